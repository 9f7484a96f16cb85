#include "layers/config/misplaced.h"

#include <algorithm>
#include <map>
#include <set>

#include "layers/config/nested.h"
#include "layers/config/types.h"
#include "layers/config/values.h"

namespace heed {

namespace {

using Places = std::map<std::string, std::vector<std::string>>;

struct UnknownKey {
  const ConfigNode* node;
  std::string message;  // without other places
};

// What a walk through a config finds.
struct Found {
  Places names;     // field -> the sections that have it
  Places synonyms;  // word of another tool -> the paths of the fields
  std::vector<UnknownKey> unknown;
};

const std::string hint_begin = "here it is ";

std::string here_it_is(const std::string& path, const Synonym& synonym) {
  return path + (synonym.rule.empty() ? "" : ": " + synonym.rule);
}

// Walks through a config along its fields, groups and chosen types included. `values`, if not null,
// replace the values in `fields`. A field that `fills` fills in is not listed: its place is in the
// enclosing struct.
void walk(const std::vector<FieldInfo>& fields, const ConfigNode* values, const Fills& fills,
          const ConfigNode& config, const std::string& path, const std::string& topic,
          Found& found) {
  for (const ConfigNode& child : config.children()) {
    const bool known = std::any_of(fields.begin(), fields.end(),
                                   [&](const FieldInfo& info) { return info.name == child.key(); });
    if (config.is_map() && !known) {
      found.unknown.push_back({&child, unknown_key(child.key(), fields, topic)});
    }
  }
  for (const FieldInfo& info : fields) {
    const std::string below = join_path(path, info.name);
    if (fill_for(fills, info) == nullptr) {
      found.names[info.name].push_back(path.empty() ? "the top level" : path);
      for (const Synonym& synonym : info.synonyms) {
        found.synonyms[synonym.word].push_back(here_it_is(below, synonym));
      }
    }
    const ConfigNode& part = config.get(info.name);
    const ConfigNode& value = values ? values->get(info.name) : info.value;
    const ConfigType* type = info.type == FieldType::spec && value.is_map()
                                 ? config_types(info.spec_kind).find(value.get("type").text())
                                 : nullptr;
    if (info.type == FieldType::group) {
      walk(info.group, nullptr, {}, part, below, topic_within(topic, info), found);
    } else if (type != nullptr) {
      walk(type->fields(), &value, info.fills, part, below, type->name, found);
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

// The message about an unknown key, given the other places that take it; `message` if there are
// none, or too many to help.
std::string with_places(const std::string& key, const std::string& message,
                        const std::vector<FieldInfo>& fields, const Found& found) {
  constexpr size_t most = 3;
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

// The path of the field that a message of here_it_is() names. One about the key's own section names
// the field alone.
std::string field_of(const std::string& message, const ConfigNode& key, bool own_section) {
  const std::string name =
      message.substr(hint_begin.size(), message.find(": ") - hint_begin.size());
  const size_t section = own_section ? key.path().size() - key.key().size() : 0;
  return key.path().substr(0, section) + name;
}

}  // namespace

std::string suggestion(const std::string& word, const std::vector<std::string>& known,
                       const std::string& these, const std::string& topic) {
  if (const std::string near = nearest(word, known); !near.empty()) {
    return ", did you mean " + near + "?";
  }
  if (known.size() <= few_names) {
    return "; " + these + " " + joined(known);
  }
  const std::vector<std::string> near = by_closeness(word, known);
  return text("; the nearest are ", near[0], " and ", near[1], "; see heed layers",
              topic.empty() ? "" : " " + topic);
}

std::string topic_within(const std::string& topic, const FieldInfo& group) {
  return topic.empty() ? group.name : topic;
}

std::string unknown_key(const std::string& key, const std::vector<FieldInfo>& fields,
                        const std::string& topic) {
  std::vector<std::string> names, words;
  for (const FieldInfo& info : fields) {
    names.push_back(info.name);
    for (const Synonym& synonym : info.synonyms) {
      words.push_back(synonym.word);
    }
  }
  const std::string word = nearest(key, names).empty() ? nearest(key, words) : "";
  for (const FieldInfo& info : fields) {
    for (const Synonym& synonym : info.synonyms) {
      if (synonym.word == key || synonym.word == word) {
        return hint_begin + here_it_is(info.name, synonym);
      }
    }
  }
  return names.empty() ? "unknown key; there are no keys here"
                       : "unknown key" + suggestion(key, names, "the keys here are", topic);
}

void explain_misplaced_keys(const std::vector<FieldInfo>& fields, const ConfigNode& config,
                            ConfigErrors& errors) {
  Found found;
  walk(fields, nullptr, {}, config, "", "", found);
  for (const auto& [node, message] : found.unknown) {
    const bool own_section = message.starts_with(hint_begin);
    const std::string whole =
        own_section ? message : with_places(node->key(), message, fields, found);
    errors.reword(node->key_mark(), node->path(), message, whole);
    if (whole.starts_with(hint_begin)) {  // the field is not missing, it has another name
      const std::string field = field_of(whole, *node, own_section);
      errors.excuse([&](const ConfigMistake& mistake) {
        return mistake.path == field && mistake.message.starts_with("missing, expected");
      });
    }
  }
}

}  // namespace heed
