// The fields of a struct and their values: for the documentation, the JSON Schema, the resolved
// config.
#pragma once

#include <vector>

#include "layers/config/fields.h"

namespace heed {

// What is declared about the fields of a struct, with their present values.
std::vector<FieldInfo> describe(const ConfigRef& config);

// The values alone, as a map in the order of declaration that read_struct reads back. A part leaves
// out what would be filled in with the same value.
ConfigNode write_struct(const ConfigRef& config);

// The value of a field as a config has it; absent if there is none.
ConfigNode value_node(const Field& field);

template <class Config>
std::vector<FieldInfo> list_fields() {
  Config config;
  return describe(config_ref(config));
}

template <class Config>
ConfigNode write_fields(Config config) {
  return write_struct(config_ref(config));
}

}  // namespace heed
