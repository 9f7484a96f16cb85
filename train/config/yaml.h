#pragma once
// Config files: a strict subset of YAML, as trees that know their places (layers/config/node.h).
//
// A config is one map of at most 1 MiB, 20,000 lines, 10,000 values and 16 levels, in UTF-8, with
// comments. Refused, because they hide mistakes or cost far more than they look: duplicate keys,
// anchors and aliases, tags, merge keys, directives, a second document, keys that are not text or
// longer than 200 bytes, keys without a value, quotes that are not closed, control characters.
#include <string>

#include "layers/config/errors.h"

namespace heed {

// Reads a file. IoError when there is no regular, readable file; ConfigError for what it contains.
ConfigNode read_config(const std::string& path);
ConfigNode parse_config(const std::string& text, const std::string& file_name);

// The same, where mistakes after which reading can go on (duplicate keys, tags, aliases, missing
// values) go to `errors`, so that they come out together with those of the fields. After any other
// mistake, ConfigError with all of them.
ConfigNode read_config(const std::string& path, ConfigErrors& errors);
ConfigNode parse_config(const std::string& text, const std::string& file_name,
                        ConfigErrors& errors);

// Reads any value by the same rules; absent when the text has none. `start` is
// where the text begins in its file. Mistakes after which reading can go on go to `errors`; after
// others, throws ConfigError with all of them.
ConfigNode parse_value(const std::string& text, const ConfigMark& start, ConfigErrors& errors);

}  // namespace heed
