// Configs as text: trees as YAML, and the quoting of scalars.
#pragma once

#include <string>

namespace heed {

class ConfigNode;

// Begins the name of the "file" in ConfigMark for values from the command line.
inline const std::string command_line_prefix = "--set ";

// True for `~`, `null`, `Null`, `NULL` and "".
bool is_null_text(const std::string& text);

// True if the text can be written without quotes in block style and reads back as itself. Returns
// false in case of doubt.
bool can_stand_plain(const std::string& text);

// True if, in addition, it does not look like a number, a boolean or a missing value.
bool reads_as_text(const std::string& text);

// The tree as YAML, ending in a newline: maps as blocks, lists of short scalars as [a, b]. The
// strict reader in train/yaml/yaml.h reads it back to an equal tree.
std::string to_yaml(const ConfigNode& node);

}  // namespace heed
