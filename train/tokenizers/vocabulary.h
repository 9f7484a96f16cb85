// vocabulary.json: the tokens that a tokenizer took from its data. A checkpoint keeps it, so that
// ids mean the same where the data is not, and where training starts from the weights.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "train/files/run_files.h"

namespace heed {

// tokens: by id. type: of the tokenizer.
std::string vocabulary_to_json(const std::string& type, const std::vector<std::string>& tokens);

// Throws IoError for a text that is no such file, ConfigError for one of another type.
std::vector<std::string> vocabulary_from_json(const std::string& json, const std::string& type);

// The file in the folder of a checkpoint; "" without one, or if there is no folder. Throws IoError,
// with its path, for one that is no vocabulary.
std::string read_vocabulary(const std::filesystem::path& folder, const char* name);

}  // namespace heed
