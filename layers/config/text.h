#pragma once
// How scalars read and stand in YAML text; shared by ConfigNode and its writer.
#include <string>

namespace heed {

// How the "file" of a mistake on the command line begins.
inline const std::string command_line_prefix = "--set ";

// `~`, `null`, `Null`, `NULL` and nothing.
bool is_null_text(const std::string& text);

// Whether the text may stand in a block without quotes and read back as itself. Says no where it is
// not sure.
bool can_stand_plain(const std::string& text);

// Whether it may, and nobody would read it as a number, a truth value or a missing value.
bool reads_as_text(const std::string& text);

}  // namespace heed
