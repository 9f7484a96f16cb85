#include "layers/config/unknown_key.h"

#include "layers/config/values.h"

namespace heed {

std::string suggestion(const std::string& word, const std::vector<std::string>& known,
                       const std::string& these, const std::string& topic) {
  if (const std::string meant = did_you_mean(word, known); !meant.empty()) {
    return meant;
  }
  if (known.size() <= few_names) {
    return "; " + these + " " + joined(known);
  }
  const std::vector<std::string> near = by_closeness(word, known);
  return text("; the nearest are ", near[0], " and ", near[1], "; see heed layers",
              topic.empty() ? "" : " " + topic);
}

std::string here_it_is(const std::string& path, const Synonym& synonym) {
  return path + (synonym.rule.empty() ? "" : ": " + synonym.rule);
}

std::string unknown_key(const std::string& key, const std::vector<FieldInfo>& fields,
                        const std::string& topic) {
  std::vector<std::string> names, words;
  for (const FieldInfo& info : fields) {
    names.push_back(info.name);
    for (const Synonym& synonym : info.synonyms) words.push_back(synonym.word);
  }
  if (key.find_first_not_of("0123456789") == std::string::npos) {
    return "unknown key; if this is a decimal comma, write a point: 0." + key;
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

}  // namespace heed
