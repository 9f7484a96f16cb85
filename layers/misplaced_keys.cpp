#include "layers/misplaced_keys.h"

#include <algorithm>
#include <map>

#include "layers/config_types.h"
#include "layers/field_values.h"

namespace heed {

namespace {

using Places = std::map<std::string, std::vector<std::string>>;  // that take each key

struct UnknownKey {
  const ConfigNode* node;
  std::string message;
};

// A config together with its fields, groups and chosen types included. A field that is filled in
// from around it has its place there.
void walk(const std::vector<FieldInfo>& fields, const Fills& fills, const ConfigNode& config,
          const std::string& path, Places& places, std::vector<UnknownKey>& unknown) {
  for (const ConfigNode& child : config.children()) {
    const bool known = std::any_of(fields.begin(), fields.end(),
                                   [&](const FieldInfo& info) { return info.name == child.key(); });
    if (config.is_map() && !known) {
      unknown.push_back({&child, unknown_key(child.key(), fields)});
    }
  }
  for (const FieldInfo& info : fields) {
    if (fill_for(fills, info) == nullptr) {
      places[info.name].push_back(path.empty() ? "the top level" : path);
    }
    const std::string below = join_path(path, info.name);
    const ConfigNode& part = config.get(info.name);
    const ConfigType* type = info.type == FieldType::spec && info.value.is_map()
                                 ? config_types(info.spec_kind).find(info.value.get("type").text())
                                 : nullptr;
    if (info.type == FieldType::group) {
      walk(info.group, {}, part, below, places, unknown);
    } else if (type != nullptr) {
      std::vector<FieldInfo> chosen = type->fields();
      for (FieldInfo& field : chosen) {
        field.value = info.value.get(field.name);
      }
      walk(chosen, info.fills, part, below, places, unknown);
    }
  }
}

// The types that the config could have chosen for these fields.
Places places_in_types(const std::vector<FieldInfo>& fields) {
  std::map<std::string, std::vector<std::string>> kinds;
  for (const FieldInfo& info : fields) {
    if (!info.spec_kind.empty()) {
      kinds[info.spec_kind] = config_types(info.spec_kind).names();
    }
  }
  Places places;
  for (const auto& [kind, names] : kinds) {
    for (const std::string& name : names) {
      for (const FieldInfo& info : config_types(kind).find(name)->fields()) {
        places[info.name].push_back(text("the ", kind, " ", name));
      }
    }
  }
  return places;
}

}  // namespace

std::string unknown_key(const std::string& key, const std::vector<FieldInfo>& fields) {
  std::vector<std::string> names;
  for (const FieldInfo& info : fields) {
    names.push_back(info.name);
  }
  const std::string near = nearest(key, names);
  return names.empty()  ? "unknown key; there are no keys here"
         : near.empty() ? "unknown key; the keys here are " + joined(names)
                        : "unknown key, did you mean " + near + "?";
}

void explain_misplaced_keys(const std::vector<FieldInfo>& fields, const ConfigNode& config,
                            ConfigErrors& errors) {
  constexpr size_t most = 3;  // more places say nothing
  Places places;
  std::vector<UnknownKey> unknown;
  walk(fields, {}, config, "", places, unknown);
  if (unknown.empty()) {
    return;
  }
  const Places others = places_in_types(fields);
  for (const auto& [node, message] : unknown) {
    const Places& all = places.contains(node->key()) ? places : others;
    const auto found = all.find(node->key());
    if (found != all.end() && found->second.size() <= most) {
      errors.add_at(node->key_mark(), node->path(),
                    text(message, message.ends_with('?') ? " " : "; ", node->key(), " belongs to ",
                         one_of(found->second)));
    }
  }
}

}  // namespace heed
