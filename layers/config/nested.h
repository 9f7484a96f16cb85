#pragma once
// Nested parts: fields whose own fields depend on a `type` (see Spec and Fills in fields.h).
#include <string>
#include <vector>

#include "layers/config/fields.h"

namespace heed {

// Returns the source in `fills` that fills in a field of a nested part, or null.
const std::string* fill_for(const Fills& fills, const FieldInfo& field);

// The fields of the struct that encloses a nested part.
struct FieldsAround {
  const std::vector<FieldInfo>& infos;     // with the values that were read
  const std::vector<std::string>& failed;  // names of fields that could not be read
  const ConfigNode* node;                  // the struct in the config; null: nothing is being read
  ConfigErrors* errors;                    // null: nothing is being read
};

// Reads type and options of a nested part from its map. Options of `member` serve as defaults if
// the config names the same type or none. Returns false after a mistake.
bool read_spec(const FieldInfo& info, const ConfigNode& node, Spec& member, ConfigErrors& errors);

// Completes the options: first with values filled in from `around`, then with defaults. `at` is the
// part's node in the config, or around.node if the config does not have the part.
void complete_spec(const FieldsAround& around, const FieldInfo& info, const ConfigNode& at,
                   Spec& member);

// Returns the part as a config node, without options that would be filled in with the same value.
ConfigNode value_of(const FieldsAround& around, const FieldInfo& info, const Spec& spec);

}  // namespace heed
