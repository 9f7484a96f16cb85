// Paths of files in a config: data.path, data.validation, data.tokenizer.path and plugins.
#pragma once

#include <string>

#include "layers/config/node.h"

namespace heed {

// After `--set key=...`: makes the paths absolute that it has set. On the command line they are
// relative to the current folder, in a config to the folder of the config.
void make_set_paths_absolute(ConfigNode& tree, const std::string& key);

// Throws ConfigError unless config.yaml, which is UTF-8, can hold the path.
void require_utf8_path(const char* key, const std::string& path);

}  // namespace heed
