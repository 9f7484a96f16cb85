// The rules of the house, over the source tree: which folder may include which, what lives in one
// file, what has a test, how long things are.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "autograd/base/error.h"

namespace {

namespace fs = std::filesystem;

struct SourceFile {
  std::string path;    // from the root of the source tree
  std::string folder;  // "autograd"
  std::vector<std::string> lines;
};

fs::path root() { return HEED_SOURCE_DIR; }

SourceFile read(const fs::path& file) {
  SourceFile source{fs::relative(file, root()).generic_string(), "", {}};
  source.folder = source.path.substr(0, source.path.find('/'));
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) source.lines.push_back(line);
  return source;
}

std::vector<SourceFile> files_in(const std::vector<std::string>& folders,
                                 const std::vector<std::string>& extensions) {
  std::vector<SourceFile> files;
  for (const std::string& folder : folders) {
    for (const auto& entry : fs::recursive_directory_iterator(root() / folder)) {
      const std::string extension = entry.path().extension().string();
      const bool wanted = std::count(extensions.begin(), extensions.end(), extension) > 0;
      if (entry.is_regular_file() && wanted) files.push_back(read(entry.path()));
    }
  }
  std::sort(files.begin(), files.end(),
            [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
  return files;
}

const std::vector<SourceFile>& sources() {
  static const std::vector<SourceFile> files =
      files_in({"autograd", "layers", "train", "tools"}, {".h", ".cpp"});
  return files;
}

const std::vector<SourceFile>& sources_and_tests() {
  static const std::vector<SourceFile> files =
      files_in({"autograd", "layers", "train", "tools", "tests"}, {".h", ".cpp"});
  return files;
}

// What stands between the quotes or brackets of an #include, "" for any other line.
std::string included(const std::string& line) {
  static const std::regex include(R"(^\s*#\s*include\s*[<"]([^>"]+)[>"].*)");
  std::smatch match;
  if (line.find('#') == std::string::npos) return "";  // in a fraction of the time
  return std::regex_match(line, match, include) ? match[1].str() : "";
}

// "file:line" of every line that the pattern is found in.
std::vector<std::string> places(const std::vector<SourceFile>& files, const std::string& pattern) {
  const std::regex wanted(pattern);
  std::vector<std::string> found;
  for (const SourceFile& file : files) {
    for (size_t i = 0; i < file.lines.size(); ++i) {
      if (std::regex_search(file.lines[i], wanted)) {
        found.push_back(heed::text(file.path, ":", i + 1));
      }
    }
  }
  return found;
}

// The files among them, each once.
std::vector<std::string> files_with(const std::vector<SourceFile>& files,
                                    const std::string& pattern) {
  std::vector<std::string> names;
  for (const std::string& place : places(files, pattern)) {
    const std::string name = place.substr(0, place.rfind(':'));
    if (names.empty() || names.back() != name) names.push_back(name);
  }
  return names;
}

std::string joined(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : ", ") + word;
  return all;
}

}  // namespace

TEST_CASE("house: autograd <- layers <- train <- tools") {
  const std::map<std::string, int> rank{
      {"autograd", 0}, {"layers", 1}, {"train", 2}, {"tools", 3}, {"tests", 4}};
  int64_t includes = 0;
  for (const SourceFile& file : sources()) {
    for (const std::string& line : file.lines) {
      const std::string header = included(line);
      const auto folder = rank.find(header.substr(0, header.find('/')));
      if (header.find('/') == std::string::npos || folder == rank.end()) continue;
      CAPTURE(file.path);
      CAPTURE(header);
      CHECK(folder->second <= rank.at(file.folder));
      CHECK(fs::exists(root() / header));
      ++includes;
    }
  }
  CHECK(sources().size() > 120);
  CHECK(includes > 250);
}

TEST_CASE("house: what lives in one file") {
  CHECK(joined(files_with(sources_and_tests(), R"(^\s*#\s*include\s*[<"](openblas/)?cblas)")) ==
        "autograd/kernels/openblas.cpp, tools/bench/gemm_bench.cpp");
  CHECK(joined(files_with(sources_and_tests(), R"(^\s*#\s*include\s*[<"]yaml-cpp)")) ==
        "train/config/yaml.cpp");
  // Threads are opened in one place; `omp simd` opens none.
  const std::string parallel = R"(^\s*#\s*pragma\s+omp\s+(?!simd|declare\s+simd))";
  CHECK(files_with(sources(), parallel).size() <= 1);
  CHECK(places(sources(), R"(^\s*#\s*pragma\s+omp\s+simd)").size() > 10);  // the search works
}

TEST_CASE("house: packages stay out of headers") {
  int64_t headers = 0;
  for (const SourceFile& file : sources()) {
    if (!file.path.ends_with(".h")) continue;
    CAPTURE(file.path);
    for (const std::string& line : file.lines) {
      const std::string header = included(line);
      CHECK(!header.starts_with("nlohmann/"));
      CHECK(!header.starts_with("CLI/"));
      CHECK(!header.starts_with("omp.h"));
    }
    ++headers;
  }
  CHECK(headers > 80);
}

TEST_CASE("house: every op and every layer has a test of its name") {
  int64_t ops = 0, layers = 0;
  for (const SourceFile& file : sources()) {
    if (!file.path.ends_with(".h")) continue;
    const std::string name = file.path.substr(0, file.path.size() - 2);
    const bool op = file.path.starts_with("autograd/ops/") &&
                    !places({file}, R"(^#include "autograd/op)").empty();
    const bool layer = file.folder == "layers" && !places({file}, R"(^HEED_LAYER\()").empty();
    if (!op && !layer) continue;
    CAPTURE(file.path);
    const SourceFile test = read(root() / "tests" / (name + "_test.cpp"));
    CHECK(!places({test}, "^TEST_CASE").empty());
    (op ? ops : layers) += 1;
  }
  CHECK(ops >= 34);
  CHECK(layers >= 17);
}

TEST_CASE("house: no file over 400 lines, no line over 100 columns") {
  for (const SourceFile& file : sources()) {
    CAPTURE(file.path);
    CHECK(file.lines.size() <= 400);
  }
  int64_t lines = 0;
  for (const SourceFile& file : sources_and_tests()) {
    for (size_t i = 0; i < file.lines.size(); ++i) {
      const std::string& line = file.lines[i];
      // Columns are characters: the bytes that continue one do not count.
      const auto columns = std::count_if(line.begin(), line.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
      });
      if (columns > 100) {
        FAIL_CHECK(heed::text(file.path, ":", i + 1, " has ", columns, " columns"));
      }
      ++lines;
    }
  }
  CHECK(lines > 10000);
}

TEST_CASE("house: nothing is left for later, no flag breaks the arithmetic") {
  // Put together here, so that this file is not found by its own search.
  const std::string later = std::string(R"(\b(TO)") + "DO|FIX" + "ME)\\b";
  const std::string fast = std::string("-ffast") + "-math|-Of" + "ast|-funsafe" + "-math";
  std::vector<SourceFile> files = sources_and_tests();
  for (SourceFile& file : files_in({"tools", "tests", "configs"},
                                   {".py", ".sh", ".cmake", ".txt", ".in", ".yaml", ".md"})) {
    files.push_back(std::move(file));
  }
  for (const char* top : {"CMakeLists.txt", "CMakePresets.json"}) {
    files.push_back(read(root() / top));
  }
  CHECK(joined(places(files, later)) == "");
  for (const std::string& place : places(files, fast)) {
    CAPTURE(place);
    CHECK(place.starts_with("autograd/kernels/vector_math.h:"));  // a comment that says: nowhere
  }
  CHECK(files.size() > 180);
}

// An operation and what a config can name are added with their header and their test alone: for
// those a line may be missing.
TEST_CASE("house: API.md names every header, and no other") {
  std::vector<std::string> named;
  static const std::regex row("^\\| `([a-z0-9_/]+\\.h)` \\| .{3,} \\|$");
  for (const std::string& line : read(root() / "API.md").lines) {
    std::smatch match;
    if (std::regex_match(line, match, row)) named.push_back(match[1].str());
  }
  for (const std::string& header : named) {
    CHECK_MESSAGE(fs::exists(root() / header), heed::text("API.md: there is no ", header));
    CHECK_MESSAGE(std::count(named.begin(), named.end(), header) == 1, header);
  }
  int64_t needed = 0;
  for (const SourceFile& file : files_in({"autograd", "layers", "train"}, {".h"})) {
    const bool registered = !places({file}, R"(^HEED_(LAYER|TASK|OPTIMIZER|SCHEDULE)\()").empty();
    if (registered || file.path.starts_with("autograd/ops/")) continue;
    CHECK_MESSAGE(std::count(named.begin(), named.end(), file.path) == 1,
                  heed::text("API.md: a line is missing about ", file.path));
    ++needed;
  }
  CHECK(needed > 80);
}

// A block of code whose first line names a file of tests/extension is that file.
TEST_CASE("house: READMEs quote tests/extension as it is compiled") {
  int64_t quoted = 0;
  for (const char* readme :
       {"README.md", "autograd/README.md", "layers/README.md", "train/README.md"}) {
    const std::vector<std::string> lines = read(root() / readme).lines;
    for (size_t i = 1; i < lines.size(); ++i) {
      if (lines[i - 1] != "```cpp" || !lines[i].starts_with("// tests/extension/")) continue;
      const std::string name = lines[i].substr(3);
      const std::vector<std::string> file = read(root() / name).lines;
      REQUIRE(i + 1 + file.size() < lines.size());
      for (size_t k = 0; k < file.size(); ++k) {
        CHECK_MESSAGE(lines[i + 1 + k] == file[k], heed::text(readme, ":", i + 2 + k, ": ", name));
      }
      CHECK(lines[i + 1 + file.size()] == "```");
      ++quoted;
    }
  }
  CHECK(quoted == 7);
}
