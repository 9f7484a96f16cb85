// Configs to try a type with, from the declarations of its fields.
#pragma once

#include <vector>

#include "layers/config/fields.h"

namespace heed {

// The required fields with their example values or, if none is declared, a value within the range.
ConfigNode example_config(const std::vector<FieldInfo>& fields);

// The example config, followed by one config for every other value of each option: booleans both
// ways, every choice, off-words, and the values of also_try. Each differs from the example in one
// option.
std::vector<ConfigNode> option_variants(const std::vector<FieldInfo>& fields);

}  // namespace heed
