// The source tree as text, for the tests of the rules of the house.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace heed::testing::house {

struct SourceFile {
  std::string path;    // from the root of the source tree: "autograd/array/shape.h"
  std::string folder;  // at the top: "autograd"
  std::vector<std::string> lines;
};

std::filesystem::path root();

SourceFile read_source(const std::filesystem::path& file);

// The files of the folders and their sub-folders that end so, sorted by path.
std::vector<SourceFile> files_in(const std::vector<std::string>& folders,
                                 const std::vector<std::string>& extensions);

// All headers and sources of autograd/, layers/, train/ and tools/; and those of tests/ as well.
const std::vector<SourceFile>& sources();
const std::vector<SourceFile>& sources_and_tests();

// What stands between the quotes or brackets of an #include, "" for any other line.
std::string included(const std::string& line);

// "file:line" of every line that the pattern is found in.
std::vector<std::string> places(const std::vector<SourceFile>& files, const std::string& pattern);

// The files among them, each once.
std::vector<std::string> files_with(const std::vector<SourceFile>& files,
                                    const std::string& pattern);

// "a, b, c"
std::string joined(const std::vector<std::string>& words);

}  // namespace heed::testing::house
