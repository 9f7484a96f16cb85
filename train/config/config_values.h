// A config as a flat list, to compare two of them.
#pragma once

#include <map>
#include <string>

#include "layers/config/config.h"

namespace heed {

// The text of every scalar by its path: "model.num_heads" -> "4".
std::map<std::string, std::string> flat_values(const ConfigNode& config);

}  // namespace heed
