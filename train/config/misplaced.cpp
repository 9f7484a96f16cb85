#include "train/config/misplaced.h"

#include <algorithm>
#include <map>
#include <set>

#include "layers/config/describe.h"
#include "layers/config/types.h"
#include "layers/config/unknown_key.h"
#include "layers/config/values.h"

namespace heed {

namespace {

using Places = std::map<std::string, std::vector<std::string>>;

struct Found {
  Places names;     // field -> the sections that have it
  Places synonyms;  // word of another tool -> the paths of the fields
};

// Walks along fields, through groups and the types that are chosen. A field that is filled in, as
// in `fills`, is left out: its place is in the struct around.
void walk(const std::vector<FieldInfo>& fields, const std::vector<std::string>& fills,
          const std::string& path, Found& found) {
  for (const FieldInfo& info : fields) {
    const std::string below = join_path(path, info.name);
    if (!is_filled(info, fills)) {
      found.names[info.name].push_back(path.empty() ? "the top level" : path);
      for (const Synonym& synonym : info.synonyms) {
        found.synonyms[synonym.word].push_back(here_it_is(below, synonym));
      }
    }
    const ConfigType* type = info.type == FieldType::part && info.value.is_map()
                                 ? config_types(info.part_kind).find(info.value.get("type").text())
                                 : nullptr;
    if (type != nullptr) {
      walk(type->fields(), info.fills, below, found);
    } else {
      walk(info.group, {}, below, found);
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
    if (!info.part_kind.empty()) {
      kinds.insert(info.part_kind);
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

// The message about an unknown key, given the other places that take it; `message` if there are
// none, or too many to help.
std::string with_places(const std::string& key, const std::string& message,
                        const std::vector<FieldInfo>& fields, const Found& found) {
  constexpr size_t most = 4;
  const auto name = found.names.find(key);
  const auto synonym = found.synonyms.find(key);
  if (name == found.names.end() && synonym != found.synonyms.end()) {
    return synonym->second.size() > most ? message : hint_begin + one_of(synonym->second);
  }
  const std::vector<std::string> all =
      name != found.names.end() ? name->second : types_with(key, fields);
  if (all.empty() || all.size() > most) {
    return message;
  }
  const std::string begin = message.ends_with('?') ? message + " " : "unknown key; ";
  return text(begin, key, " belongs to ", one_of(all));
}

// A word of another tool is a field that is not missing. Messages about words of the key's own
// section name the field alone.
void excuse_field(const ConfigMistake& mistake, ConfigErrors& errors) {
  const std::string& message = mistake.message;
  const std::string name =
      message.substr(hint_begin.size(), message.find(": ") - hint_begin.size());
  const std::string section =
      mistake.path.substr(0, mistake.path.size() - mistake.unknown_key.size());
  errors.excuse([path = name, inside = section + name](const ConfigMistake& other) {
    return (other.path == path || other.path == inside) &&
           other.message.starts_with("missing, expected");
  });
}

}  // namespace

void explain_misplaced_keys(RunConfig& config, ConfigErrors& errors) {
  const std::vector<FieldInfo> fields = describe(config_ref(config));
  Found found;
  walk(fields, {}, "", found);
  errors.reword_unknown_keys([&](const ConfigMistake& mistake) {
    return mistake.message.starts_with(hint_begin)
               ? mistake.message
               : with_places(mistake.unknown_key, mistake.message, fields, found);
  });
  for (const ConfigMistake& mistake : std::vector(errors.all())) {
    if (!mistake.unknown_key.empty() && mistake.message.starts_with(hint_begin)) {
      excuse_field(mistake, errors);
    }
  }
}

}  // namespace heed
