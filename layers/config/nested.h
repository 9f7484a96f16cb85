#pragma once
// Nested parts: fields whose own fields depend on a `type` (see Spec and Fills in fields.h).
#include <string>
#include <vector>

#include "layers/config/fields.h"

namespace heed {

// What fills in a field of a nested part: the name of a field around it; null: nothing does.
const std::string* fill_for(const Fills& fills, const FieldInfo& field);

// The fields of the struct around a nested part.
struct FieldsAround {
  const std::vector<FieldInfo>& infos;     // with the values that were read
  const std::vector<std::string>& failed;  // names of fields that could not be read
  const ConfigNode* node;                  // the struct in the config; null: nothing is being read
  ConfigErrors* errors;                    // null: nothing is being read
};

// Reads type and options of a nested part from its map. Options of `member` remain where the config
// names the same type or none. Returns false after a mistake.
bool read_spec(const FieldInfo& info, const ConfigNode& node, Spec& member, ConfigErrors& errors);

// Adds to the options what the fields around fill in, and the defaults. `at` is the part in the
// config, or around.node for a part that the config does not have.
void complete_spec(const FieldsAround& around, const FieldInfo& info, const ConfigNode& at,
                   Spec& member);

// The part as a config has it, without the options that would be filled in anyway.
ConfigNode value_of(const FieldsAround& around, const FieldInfo& info, const Spec& spec);

}  // namespace heed
