#include "layers/config/misplaced.h"

#include <algorithm>
#include <map>
#include <set>

#include "layers/config/nested.h"
#include "layers/config/types.h"
#include "layers/config/values.h"

namespace heed {

namespace {

using Places = std::map<std::string, std::vector<std::string>>;  // key -> the paths that take it

struct UnknownKey {
  const ConfigNode* node;
  std::vector<std::string> known;  // the fields valid in its place
};

std::vector<std::string> names_of(const std::vector<FieldInfo>& fields) {
  std::vector<std::string> names;
  for (const FieldInfo& info : fields) {
    names.push_back(info.name);
  }
  return names;
}

std::string unknown_key(const std::string& key, const std::vector<std::string>& known) {
  const std::string near = nearest(key, known);
  return known.empty()  ? "unknown key; there are no keys here"
         : near.empty() ? "unknown key; the keys here are " + joined(known)
                        : "unknown key, did you mean " + near + "?";
}

// Walks through a config along its fields, groups and chosen types included, and collects the
// places that take each key and the unknown keys. `values`, if not null, replace the values in
// `fields`. A field that `fills` fills in is not listed: its place is in the enclosing struct.
void walk(const std::vector<FieldInfo>& fields, const ConfigNode* values, const Fills& fills,
          const ConfigNode& config, const std::string& path, Places& places,
          std::vector<UnknownKey>& unknown) {
  for (const ConfigNode& child : config.children()) {
    const bool known = std::any_of(fields.begin(), fields.end(),
                                   [&](const FieldInfo& info) { return info.name == child.key(); });
    if (config.is_map() && !known) {
      unknown.push_back({&child, names_of(fields)});
    }
  }
  for (const FieldInfo& info : fields) {
    if (fill_for(fills, info) == nullptr) {
      places[info.name].push_back(path.empty() ? "the top level" : path);
    }
    const std::string below = join_path(path, info.name);
    const ConfigNode& part = config.get(info.name);
    const ConfigNode& value = values ? values->get(info.name) : info.value;
    const ConfigType* type = info.type == FieldType::spec && value.is_map()
                                 ? config_types(info.spec_kind).find(value.get("type").text())
                                 : nullptr;
    if (info.type == FieldType::group) {
      walk(info.group, nullptr, {}, part, below, places, unknown);
    } else if (type != nullptr) {
      walk(type->fields(), &value, info.fills, part, below, places, unknown);
    }
  }
}

// The keys that the types of a kind take. Kept between calls: types are only ever added, so their
// number tells whether the result is still valid.
const Places& places_in_types(const std::string& kind) {
  thread_local std::map<std::string, std::pair<size_t, Places>> asked;
  const std::vector<std::string> names = config_types(kind).names();
  auto& [count, places] = asked[kind];
  if (count != names.size()) {
    count = names.size();
    places.clear();
    for (const std::string& name : names) {
      for (const FieldInfo& info : config_types(kind).find(name)->fields()) {
        places[info.name].push_back(text("the ", kind, " ", name));
      }
    }
  }
  return places;
}

// The types that take the key, among all that the config could have chosen for these fields.
std::vector<std::string> types_with(const std::string& key, const std::vector<FieldInfo>& fields) {
  std::set<std::string> kinds;
  for (const FieldInfo& info : fields) {
    if (!info.spec_kind.empty()) {
      kinds.insert(info.spec_kind);
    }
  }
  std::vector<std::string> types;
  for (const std::string& kind : kinds) {
    const Places& places = places_in_types(kind);
    if (const auto found = places.find(key); found != places.end()) {
      types.insert(types.end(), found->second.begin(), found->second.end());
    }
  }
  return types;
}

}  // namespace

std::string unknown_key(const std::string& key, const std::vector<FieldInfo>& fields) {
  return unknown_key(key, names_of(fields));
}

void explain_misplaced_keys(const std::vector<FieldInfo>& fields, const ConfigNode& config,
                            ConfigErrors& errors) {
  constexpr size_t most = 3;  // a longer list would not help
  Places places;
  std::vector<UnknownKey> unknown;
  walk(fields, nullptr, {}, config, "", places, unknown);
  for (const auto& [node, known] : unknown) {
    const auto found = places.find(node->key());
    const std::vector<std::string> all =
        found != places.end() ? found->second : types_with(node->key(), fields);
    if (!all.empty() && all.size() <= most) {
      const std::string message = unknown_key(node->key(), known);
      errors.add_at(node->key_mark(), node->path(),
                    text(message, message.ends_with('?') ? " " : "; ", node->key(), " belongs to ",
                         one_of(all)));
    }
  }
}

}  // namespace heed
