#include "tests/support/source_tree.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>

#include "autograd/base/error.h"

namespace heed::testing::layout {

namespace fs = std::filesystem;

fs::path root() { return HEED_SOURCE_DIR; }

SourceFile read_source(const fs::path& file) {
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
      if (entry.is_regular_file() && wanted) files.push_back(read_source(entry.path()));
    }
  }
  std::sort(files.begin(), files.end(),
            [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
  return files;
}

namespace {

std::vector<SourceFile> those(bool of_tests) {
  std::vector<SourceFile> files = sources_and_tests();
  std::erase_if(files, [of_tests](const SourceFile& file) {
    return ("/" + file.path).find("/tests/") == std::string::npos ? of_tests : !of_tests;
  });
  return files;
}

}  // namespace

const std::vector<SourceFile>& sources() {
  static const std::vector<SourceFile> files = those(false);
  return files;
}

const std::vector<SourceFile>& tests() {
  static const std::vector<SourceFile> files = those(true);
  return files;
}

const std::vector<SourceFile>& sources_and_tests() {
  static const std::vector<SourceFile> files =
      files_in({"autograd", "layers", "train", "tools", "tests"}, {".h", ".cpp"});
  return files;
}

const std::vector<std::string>& plain_sources() {
  static const std::vector<std::string> all = [] {
    std::istringstream list(HEED_PLAIN_SOURCES);
    return std::vector<std::string>{std::istream_iterator<std::string>(list), {}};
  }();
  return all;
}

fs::path folder_of_extra(const std::string& extra) {
  for (const char* floor : {"layers", "train", "tools"}) {
    if (const fs::path folder = root() / floor / "extras" / extra; fs::exists(folder))
      return folder;
  }
  return "";
}

bool has_extra(const std::string& extra) { return std::ranges::count(built_extras(), extra) > 0; }

const std::vector<std::string>& built_extras() {
  static const std::vector<std::string> all = [] {
    std::istringstream list(HEED_BUILT_EXTRAS);
    return std::vector<std::string>{std::istream_iterator<std::string>(list), {}};
  }();
  return all;
}

namespace {

void add_configs(const fs::path& folder, std::vector<fs::path>& configs) {
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".yaml") configs.push_back(entry.path());
  }
  std::sort(configs.begin(), configs.end());
}

}  // namespace

std::vector<fs::path> configs_of_core() {
  std::vector<fs::path> configs;
  add_configs(root() / "configs", configs);
  return configs;
}

std::vector<fs::path> configs_of_extras() {
  std::vector<fs::path> configs;
  for (const std::string& extra : built_extras()) {
    if (const fs::path folder = folder_of_extra(extra) / "configs"; fs::exists(folder)) {
      add_configs(folder, configs);
    }
  }
  return configs;
}

std::vector<fs::path> shipped_configs() {
  std::vector<fs::path> configs = configs_of_core();
  std::ranges::copy(configs_of_extras(), std::back_inserter(configs));
  return configs;
}

std::string included(const std::string& line) {
  static const std::regex include(R"(^\s*#\s*include\s*[<"]([^>"]+)[>"].*)");
  std::smatch match;
  if (line.find('#') == std::string::npos) return "";  // much faster than the regex
  return std::regex_match(line, match, include) ? match[1].str() : "";
}

std::vector<std::string> places(const std::vector<SourceFile>& files, const std::string& pattern,
                                const std::string& literal) {
  const std::regex wanted(pattern);
  std::vector<std::string> found;
  for (const SourceFile& file : files) {
    for (size_t i = 0; i < file.lines.size(); ++i) {
      const std::string& line = file.lines[i];
      if (line.find(literal) != line.npos && std::regex_search(line, wanted)) {
        found.push_back(heed::text(file.path, ":", i + 1));
      }
    }
  }
  return found;
}

std::vector<std::string> files_with(const std::vector<SourceFile>& files,
                                    const std::string& pattern, const std::string& literal) {
  std::vector<std::string> names;
  for (const std::string& place : places(files, pattern, literal)) {
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

}  // namespace heed::testing::layout
