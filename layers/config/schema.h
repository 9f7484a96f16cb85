// JSON Schema (draft 2020-12, https://json-schema.org) from the declarations of fields: types,
// ranges, defaults, help, and for every `type:` the fields that it takes. Rules between fields
// (`check`) and what the data decides are beyond it.
#pragma once

#include <string>
#include <vector>

#include "layers/config/types.h"

namespace heed {

// The schema of a config with these fields, as JSON that ends in a newline.
std::string config_schema(const std::string& title, const std::vector<FieldInfo>& fields);

// One object {"layer": {"gpt": <schema of {type: gpt, ...}>, ...}, ...} of the types of these
// kinds; with a name, only of the types that are called so.
std::string types_schema(const std::vector<std::string>& kinds, const std::string& name = "");

}  // namespace heed
