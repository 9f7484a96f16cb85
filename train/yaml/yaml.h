// Config files: a strict subset of YAML, read into trees with source positions
// (layers/config/node.h).
//
// A config is one map of at most 1 MiB, 20,000 lines, 10,000 values and 16 levels, in UTF-8;
// comments are allowed. Rejected, because they hide errors or cost far more than they seem to:
// duplicate keys, anchors and aliases, tags, merge keys, directives, a second document, keys that
// are not strings or are longer than 200 bytes, keys without a value, unclosed quotes, control
// characters.
#pragma once

#include <string>

#include "layers/config/errors.h"

namespace heed {

// Reads a file. Throws IoError if it is not a readable regular file, ConfigError for its contents.
ConfigNode read_config(const std::string& path);
ConfigNode parse_config(const std::string& text, const std::string& file_name);

// The same, but errors after which parsing can continue (duplicate keys, tags, aliases, missing
// values) are added to `errors`, to be reported together with those of the fields. After any other
// error, throws ConfigError with all of them.
ConfigNode read_config(const std::string& path, ConfigErrors& errors);
ConfigNode parse_config(const std::string& text, const std::string& file_name,
                        ConfigErrors& errors);

// Parses any value by the same rules; absent if the text contains none. `start` is the position of
// the text in its file. Errors after which parsing can continue are added to `errors`; after
// others, throws ConfigError with all of them.
ConfigNode parse_value(const std::string& text, const ConfigMark& start, ConfigErrors& errors);

}  // namespace heed
