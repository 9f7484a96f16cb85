// The source tree as text, for the tests of rules of the layout.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace heed::testing::layout {

struct SourceFile {
  std::string path;    // from the root of the source tree: "autograd/array/shape.h"
  std::string folder;  // at the top: "autograd"
  std::vector<std::string> lines;
};

std::filesystem::path root();

SourceFile read_source(const std::filesystem::path& file);

// The files with these extensions in the folders and their sub-folders, sorted by path.
std::vector<SourceFile> files_in(const std::vector<std::string>& folders,
                                 const std::vector<std::string>& extensions);

// All headers and sources of autograd/, layers/, train/ and tools/ but tests; those of tests/ and
// of the extras' folders tests/; both.
const std::vector<SourceFile>& sources();
const std::vector<SourceFile>& tests();
const std::vector<SourceFile>& sources_and_tests();

// The sources that are compiled once for both precisions.
const std::vector<std::string>& plain_sources();

// The folder of an extra, whether or not this build has it; "" if there is none.
std::filesystem::path folder_of_extra(const std::string& extra);
// Whether this build has an extra; all that it has.
bool has_extra(const std::string& extra);
const std::vector<std::string>& built_extras();

// The configs that come with heedgrad, in the order of their names: those in configs/, those of the
// extras of this build, and both.
std::vector<std::filesystem::path> configs_of_core();
std::vector<std::filesystem::path> configs_of_extras();
std::vector<std::filesystem::path> shipped_configs();

// The path in an #include line; "" for any other line.
std::string included(const std::string& line);

// "file:line" of every line that contains a match of the pattern. `literal` is what all matches
// contain: std::regex takes a hundred times as long to find nothing.
std::vector<std::string> places(const std::vector<SourceFile>& files, const std::string& pattern,
                                const std::string& literal = "");

// The files that contain a match, each once.
std::vector<std::string> files_with(const std::vector<SourceFile>& files,
                                    const std::string& pattern, const std::string& literal = "");

// "a, b, c"
std::string joined(const std::vector<std::string>& words);

}  // namespace heed::testing::layout
