#pragma once
// A config as text: the tree as YAML, how its scalars stand there, and text inside messages.
#include <string>

namespace heed {

class ConfigNode;

// How the "file" of a mistake on the command line begins.
inline const std::string command_line_prefix = "--set ";

// `~`, `null`, `Null`, `NULL` and nothing.
bool is_null_text(const std::string& text);

// Whether the text may stand in a block without quotes and read back as itself. Says no where it is
// not sure.
bool can_stand_plain(const std::string& text);

// Whether it may, and nobody would read it as a number, a truth value or a missing value.
bool reads_as_text(const std::string& text);

// The tree as YAML, ending in a newline: maps as blocks, lists of short scalars as [a, b]. The
// strict reader in train/config/yaml.h reads it back to an equal tree.
std::string to_yaml(const ConfigNode& node);

// Text of a user inside a message: one line, control characters escaped, at most `limit` bytes.
std::string printable(const std::string& text, size_t limit = 60);

}  // namespace heed
