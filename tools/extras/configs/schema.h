// JSON Schema (draft 2020-12, https://json-schema.org) from the declarations of fields: types,
// ranges, defaults, help, and for every `type:` the fields that it takes. It does not cover rules
// between fields (`check`) and sizes that come from the data.
#pragma once

#include <string>
#include <vector>

namespace heed {

// The schema of a whole config, as JSON that ends in a newline.
std::string config_schema();

// One object {"layer": {"gpt": <schema of {type: gpt, ...}>, ...}, ...} with the types of these
// kinds. With a `name`, only the types of that name.
std::string types_schema(const std::vector<std::string>& kinds, const std::string& name = "");

}  // namespace heed
