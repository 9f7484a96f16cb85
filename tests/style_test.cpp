// The rules of the layout, over the source tree: what lives in one file, what has a test, how long
// things are. Those about folders are in layout_test.cpp.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "autograd/base/error.h"
#include "tests/support/source_tree.h"

using namespace heed::testing::layout;
namespace fs = std::filesystem;

// Of these files, those that nobody has deleted with their extra.
std::string of_those(const std::vector<std::string>& files) {
  std::vector<std::string> there;
  for (const std::string& file : files) {
    if (fs::exists(root() / file)) there.push_back(file);
  }
  return joined(there);
}

TEST_CASE("layout: what lives in one file") {
  CHECK(joined(files_with(sources_and_tests(), R"(^\s*#\s*include\s*[<"](openblas/)?cblas)",
                          "#")) == "autograd/kernels/openblas.cpp");
  CHECK(joined(files_with(sources_and_tests(), R"(^\s*#\s*include\s*[<"]yaml-cpp)", "#")) ==
        "train/yaml/yaml.cpp");
  CHECK(joined(files_with(sources_and_tests(), R"(^\s*#\s*include\s*[<"]xxhash)", "#")) ==
        "train/files/fingerprint.cpp");
  CHECK(joined(files_with(sources_and_tests(), R"(^\s*#\s*include\s*[<"]utf8proc)", "#")) ==
        of_those({"layers/text/display.cpp", "layers/text/utf8.cpp",
                  "train/extras/toy_tasks/word_tokenizer.cpp"}));
  CHECK(joined(files_with(sources_and_tests(), R"(^\s*#\s*include\s*[<"]pcre2)", "#")) ==
        of_those({"tools/extras/bpe/train/text/pattern.cpp"}));
  CHECK(joined(files_with(sources_and_tests(), R"(^\s*#\s*include\s*[<"]mpi\.h)", "#")) ==
        of_those({"train/extras/processes/mpi_communicator.cpp"}));
  // Threads are opened in one place; `omp simd` opens none.
  const std::string parallel = R"(^\s*#\s*pragma\s+omp\s+(?!simd|declare\s+simd))";
  const std::vector<std::string> regions = places(sources(), parallel, "#");
  REQUIRE(regions.size() == 1);
  CHECK(regions[0].starts_with("autograd/threads/parallel.cpp:"));
  for (const SourceFile& file : sources()) {
    const std::string own = R"(\bstd::j?thread\b|\bpthread_create\b)";
    if (file.folder == "autograd") CHECK(joined(places({file}, own, "thread")) == "");
  }
  CHECK(places(sources(), R"(^\s*#\s*pragma\s+omp\s+simd)", "#").size() > 10);  // the search works
  // Sums of floats have the order of kernels/row_math.h, by the functions of base/sum.h.
  const auto sums = [](const std::vector<SourceFile>& files) {
    return places(files, R"(reduction *\( *\+|std::(accumulate|reduce|inner_product)\(.*\breal\b)",
                  "(");
  };
  CHECK(joined(sums(sources())) == "");
  CHECK(sums({{"a.cpp", "", {"#pragma omp simd reduction(+ : sum)", "std::reduce(x, y, real{0})"}}})
            .size() == 2);
}

// Several threads of a host program may train at once: a variable of a whole file is a thread's
// own, atomic, or used under a mutex and named here.
TEST_CASE("layout: a file's variables are a thread's own or atomic") {
  const std::string shared =
      R"(^(static |inline )*(bool|char|u?int(\d+_t)?|float|double|real|size_t|)"
      R"(std::(?!atomic|mutex)\w+(<.*>)?) \w+( = .*|\{.*\})?;)";
  for (const std::string& file : files_with(sources(), shared)) {
    CAPTURE(file);
    CHECK((file.starts_with("tools/") || file == "train/run/interrupt.cpp"));
  }
}

TEST_CASE("layout: packages stay out of headers") {
  int64_t headers = 0;
  for (const SourceFile& file : sources()) {
    if (!file.path.ends_with(".h")) continue;
    CAPTURE(file.path);
    for (const std::string& line : file.lines) {
      const std::string header = included(line);
      CHECK(!header.starts_with("nlohmann/"));
      CHECK(!header.starts_with("CLI/"));
      CHECK(!header.starts_with("omp.h"));
      CHECK(!header.starts_with("xxhash"));
      CHECK(!header.starts_with("utf8proc"));
      CHECK(!header.starts_with("pcre2"));
    }
    ++headers;
  }
  CHECK(headers > 80);
}

TEST_CASE("layout: every op and every layer has a test of its name") {
  int64_t ops = 0, layers = 0;
  for (const SourceFile& file : sources()) {
    if (!file.path.ends_with(".h") || file.path.find("/new/") != file.path.npos) continue;
    const std::string name = file.path.substr(0, file.path.size() - 2);
    const bool op = file.path.starts_with("autograd/ops/") &&
                    !places({file}, R"(^#include "autograd/op)").empty();
    const bool layer = !places({file}, R"(^HEED_LAYER\()", "HEED_LAYER(").empty();
    if (!op && !layer) continue;
    CAPTURE(file.path);
    const std::string test = name.substr(name.rfind('/')) + "_test.cpp";
    CHECK(std::any_of(tests().begin(), tests().end(), [&](const SourceFile& each) {
      return each.path.ends_with(test) && !places({each}, "^TEST_CASE").empty();
    }));
    (op ? ops : layers) += 1;
  }
  CHECK(ops >= 34);
  CHECK(layers >= 17);
}

TEST_CASE("layout: no file over 400 lines, no line over 100 columns") {
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

TEST_CASE("layout: nothing is left for later, no flag breaks the arithmetic") {
  // Put together here, so that this file is not found by its own search.
  const std::vector<std::string> later{std::string("TO") + "DO", std::string("FIX") + "ME"};
  const std::vector<std::string> fast{std::string("-ffast") + "-math", std::string("-Of") + "ast",
                                      std::string("-funsafe") + "-math"};
  std::vector<SourceFile> files = sources_and_tests();
  for (SourceFile& file : files_in({"tools", "tests", "configs"},
                                   {".py", ".sh", ".cmake", ".txt", ".in", ".yaml", ".md"})) {
    files.push_back(std::move(file));
  }
  for (const char* top : {"CMakeLists.txt", "CMakePresets.json"}) {
    files.push_back(read_source(root() / top));
  }
  for (const std::string& word : later) CHECK(joined(places(files, word, word)) == "");
  for (const std::string& flag : fast) {
    for (const std::string& place : places(files, flag, flag)) {
      CAPTURE(place);
      // A comment that says: nowhere.
      CHECK(place.starts_with("autograd/kernels/vector_math.h:"));
    }
  }
  CHECK(files.size() > 180);
}

// A block of code whose first line names a file of tests/extension is that file.
TEST_CASE("layout: READMEs quote tests/extension as it is compiled") {
  int64_t quoted = 0;
  for (const char* readme :
       {"README.md", "autograd/README.md", "layers/README.md", "train/README.md"}) {
    const std::vector<std::string> lines = read_source(root() / readme).lines;
    for (size_t i = 1; i < lines.size(); ++i) {
      if (lines[i - 1] != "```cpp" || !lines[i].starts_with("// tests/extension/")) continue;
      const std::string name = lines[i].substr(3);
      const std::vector<std::string> file = read_source(root() / name).lines;
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
