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
  Places types;     // field -> the types that have it, if they were chosen
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

// The types that take each key, among all that the config could have chosen for these fields.
Places places_in_types(const std::vector<FieldInfo>& fields) {
  std::set<std::string> kinds;
  for (const FieldInfo& info : fields) {
    kinds.insert(info.part_kind);
  }
  kinds.erase("");
  Places places;
  for (const std::string& kind : kinds) {
    for (const std::string& name : config_types(kind).names()) {
      for (const FieldInfo& info : config_types(kind).get(name).fields()) {
        places[info.name].push_back(text("the ", kind, " ", name));
      }
    }
  }
  return places;
}

// The message about an unknown key, given the other places that take it; `message` if there are
// none, or too many to help.
std::string with_places(const std::string& key, const std::string& message, const Found& found) {
  constexpr size_t most = 4;
  const auto synonym = found.synonyms.find(key);
  if (!found.names.contains(key) && synonym != found.synonyms.end()) {
    return synonym->second.size() > most ? message : hint_begin + one_of(synonym->second);
  }
  const Places& places = found.names.contains(key) ? found.names : found.types;
  const auto all = places.find(key);
  if (all == places.end() || all->second.size() > most) {
    return message;
  }
  const std::string begin = message.ends_with('?') ? message + " " : "unknown key; ";
  return text(begin, key, " belongs to ", one_of(all->second));
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
  found.types = places_in_types(fields);
  errors.reword_unknown_keys([&](const ConfigMistake& mistake) {
    return mistake.message.starts_with(hint_begin)
               ? mistake.message
               : with_places(mistake.unknown_key, mistake.message, found);
  });
  for (const ConfigMistake& mistake : std::vector(errors.all())) {
    if (!mistake.unknown_key.empty() && mistake.message.starts_with(hint_begin)) {
      excuse_field(mistake, errors);
    }
  }
}

}  // namespace heed
