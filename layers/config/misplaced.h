// Messages about unknown keys of a config, and where in the config they would be valid.
#pragma once

#include <string>
#include <vector>

#include "layers/config/fields.h"

namespace heed {

// The message about an unknown key: suggests the field with the most similar name, or lists all.
std::string unknown_key(const std::string& key, const std::vector<FieldInfo>& fields);

// Adds to the message of each unknown key where the config takes such a key: "...; lr belongs to
// optimizer", or "...; momentum belongs to the optimizer sgd" if that type would have to be chosen
// first. Takes a whole config; `fields` are its fields with the values that were read.
void explain_misplaced_keys(const std::vector<FieldInfo>& fields, const ConfigNode& config,
                            ConfigErrors& errors);

}  // namespace heed
