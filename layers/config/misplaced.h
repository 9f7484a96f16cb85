// Messages about keys of a config that stand where nothing takes them.
#pragma once

#include <string>
#include <vector>

#include "layers/config/fields.h"

namespace heed {

// Of a key beside fields of other names: the nearest of these, or all of them.
std::string unknown_key(const std::string& key, const std::vector<FieldInfo>& fields);

// For every unknown key of a whole config that would be right somewhere else, the same message and
// where: "...; lr belongs to optimizer", or "...; momentum belongs to the optimizer sgd" when that
// would have to be chosen first. `fields` are those of the config, with the values that were read.
void explain_misplaced_keys(const std::vector<FieldInfo>& fields, const ConfigNode& config,
                            ConfigErrors& errors);

}  // namespace heed
