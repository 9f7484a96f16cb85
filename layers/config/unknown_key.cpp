#include "layers/config/unknown_key.h"

#include <utility>

#include "layers/config/values.h"

namespace heed {

const OtherWords& other_words() { return words_registry().words(); }

WordsRegistry& words_registry() {
  static WordsRegistry& registry = []() -> WordsRegistry& {
    auto& filled = *new WordsRegistry;
    register_words(filled);
    return filled;
  }();
  return registry;
}

std::string nearest_name(const std::string& word, const std::vector<std::string>& known) {
  constexpr size_t least = 3;
  const std::string lower = in_lower_case(word), near = nearest(word, known);
  std::string inside;
  size_t last = 0;  // where it ends: attn_dropout is a kind of dropout
  for (const std::string& name : known) {
    if (other_words().is_value(lower, name) || (near.empty() && name.starts_with(lower + "_"))) {
      return name;
    }
    const size_t at = name.size() < least ? std::string::npos : lower.rfind(name);
    const auto begins_word = [&] {  // eps is not in steps
      return at == 0 || std::string("_-. ").find(word[at - 1]) != std::string::npos ||
             word[at] != lower[at];
    };
    if (at != std::string::npos && at + name.size() > last && begins_word()) {
      inside = name;
      last = at + name.size();
    }
  }
  return near.empty() ? inside : near;
}

std::string suggestion(const std::string& word, const std::vector<std::string>& known,
                       const std::string& these, const std::string& topic) {
  const std::string near = nearest_name(word, known);
  return !near.empty()               ? ", did you mean " + near + "?"
         : known.size() <= few_names ? "; " + these + " " + joined(known)
                                     : "; see heed layers" + (topic.empty() ? "" : " " + topic);
}

std::string suggested_type(const std::string& word, const ConfigTypes& types) {
  for (const auto& [name, type] : types) {
    for (const FieldInfo& field : type.fields()) {
      for (const OtherWord& other : other_words().of_field(name, field.name)) {
        if (other.word != in_lower_case(word) || other.rule.empty()) continue;
        return text("; ", hint_begin, "{type: ", name, ", ", here_it_is(field.name, other), "}");
      }
    }
  }
  return suggestion(word, types.names(), "there are", "");
}

std::string here_it_is(const std::string& path, const OtherWord& other) {
  return path + (other.rule.empty() ? "" : ": " + other.rule);
}

std::string unknown_key(const std::string& key, const std::vector<FieldInfo>& fields,
                        const std::string& topic) {
  std::vector<std::string> names, words;
  for (const FieldInfo& info : fields) {
    names.push_back(info.name);
    for (OtherWord& other : other_words().of_field(topic, info.name)) {
      words.push_back(std::move(other.word));
    }
  }
  // Long words of other tools resemble each other: norm_position is no n_positions, type no dtype.
  const size_t most = (key.size() + 1) / 6;
  const std::string word = nearest(key, names).empty() ? nearest(key, words, most) : "";
  for (const FieldInfo& info : fields) {
    for (const OtherWord& other : other_words().of_field(topic, info.name)) {
      if (other.word == key || other.word == word || other.word == "num_" + key) {
        return hint_begin + here_it_is(info.name, other);
      }
    }
  }
  return names.empty() ? "unknown key; there are no keys here"
                       : "unknown key" + suggestion(key, names, "the keys here are", topic);
}

}  // namespace heed
