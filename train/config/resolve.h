// The files that a config names (data.path, data.validation, data.tokenizer.path, and what fields
// declare with names_file()): their paths, and what a run keeps of them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "train/config/run_config.h"

namespace heed {

// The keys of sections that name files (names_file()); not those of data.
std::vector<std::string> keys_of_files();

// After `--set key=...`: makes the paths absolute that it has set. On the command line they are
// relative to the current folder, in a config to the folder of the config.
void make_set_paths_absolute(ConfigNode& tree, const std::string& key);

// Throws ConfigError unless config.yaml, which is UTF-8, can hold the path.
void require_utf8_path(const char* key, const std::string& path);

// Makes paths absolute and adds the fingerprints of files, so that the run can be resumed from any
// folder, but only with the same data and tokenizer.
void resolve_data(ConfigNode& data, const std::filesystem::path& folder, const Task& dataset);

}  // namespace heed
