#include "layers/config/unknown_key.h"

#include "layers/config/values.h"

namespace heed {

std::string nearest_name(const std::string& word, const std::vector<std::string>& known) {
  static const std::string elsewhere =  // the words of other tools for values
      " swish=silu gelu_new=gelu_tanh gelu_pytorch_tanh=gelu_tanh rotary=rope absolute=learned "
      "learnable=learned embedding=learned fp32=float32 fp16=float32 bf16=float32 bfloat16=float32 "
      "fp64=float64 double=float64 transformer=gpt nanogpt=gpt llama=gpt ";
  constexpr size_t least = 3;
  const std::string lower = in_lower_case(word), near = nearest(word, known);
  std::string inside;
  size_t last = 0;  // where it ends: attn_dropout is a kind of dropout
  for (const std::string& name : known) {
    const bool is_meant = elsewhere.find(" " + lower + "=" + name + " ") != std::string::npos;
    if (near.empty() && (is_meant || name.starts_with(lower + "_"))) return name;
    const size_t at = name.size() < least ? std::string::npos : lower.rfind(name);
    if (at != std::string::npos && at + name.size() > last) {
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
      for (const Synonym& synonym : field.synonyms) {
        if (synonym.word != in_lower_case(word) || synonym.rule.empty()) continue;
        return text("; ", hint_begin, "{type: ", name, ", ", here_it_is(field.name, synonym), "}");
      }
    }
  }
  return suggestion(word, types.names(), "there are", "");
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
