#include "tools/extras/hugging_face/train/tokenizer_files.h"

#include <algorithm>
#include <set>
#include <utility>

#include "layers/text/display.h"
#include "tools/extras/bpe/train/bpe_tokenizer.h"
#include "tools/extras/bpe/train/text/published_patterns.h"
#include "tools/extras/bpe/train/write.h"
#include "tools/extras/hugging_face/train/json.h"
#include "train/tokenizers/marked_tokenizer.h"

namespace heed {

namespace {

// Each character, or byte, is a piece, and each piece a token: nothing merges.
BpeModel without_merges(const Tokenizer& tokenizer) {
  BpeModel model;
  for (int32_t id = 0; id < tokenizer.vocab_size(); ++id) {
    model.tokens.push_back(tokenizer.decode({&id, 1}));
  }
  if (dynamic_cast<const CharTokenizer*>(&tokenizer) != nullptr) {
    model.whole_pieces = true;
    // Any character: bpe/text/published_patterns.cpp has it too.
    model.rules.push_back({R"([^\n]|\n)", SplitRule::Keep::all});
  }
  return model;
}

// Adds a special token of this name or, where there is one already, a longer name.
void add_special(BpeModel& model, std::set<std::string>& taken, std::string name) {
  while (!taken.insert(name).second) name.insert(name.size() - 2, "_");
  model.added.push_back({.id = static_cast<int32_t>(model.tokens.size()), .content = name});
  model.tokens.push_back(std::move(name));
}

std::set<std::string> names_of(const BpeModel& model) {
  return {model.tokens.begin(), model.tokens.end()};
}

}  // namespace

TokenizerFiles tokenizer_files(const Tokenizer& tokenizer, int64_t context_length,
                               std::optional<int32_t> begin, std::optional<int32_t> end) {
  const auto* const marked = dynamic_cast<const MarkedTokenizer*>(&tokenizer);
  const Tokenizer& inner = marked != nullptr ? marked->inner() : tokenizer;
  const auto* const bpe = dynamic_cast<const BpeTokenizer*>(&inner);
  if (bpe == nullptr && dynamic_cast<const CharTokenizer*>(&inner) == nullptr &&
      dynamic_cast<const ByteTokenizer*>(&inner) == nullptr) {
    return {};
  }
  BpeModel model = bpe != nullptr ? bpe->model() : without_merges(inner);
  std::set<std::string> taken = names_of(model);
  for (const std::string& mark : marked != nullptr ? marked->marks() : std::vector<std::string>()) {
    add_special(model, taken, mark);
  }
  model.begin = begin;
  TokenizerFiles files;
  ConfigNode config = ConfigNode::map({{"tokenizer_class", "PreTrainedTokenizerFast"},
                                       {"clean_up_tokenization_spaces", false},
                                       {"model_max_length", context_length}});
  for (const AddedToken& token : model.added) {
    const bool is_usual = token.content == "<|endoftext|>";
    if (is_usual) files.end_of_text = token.id;
    if (begin ? *begin == token.id : is_usual) config.set("bos_token", token.content);
    if (end ? *end == token.id : is_usual) config.set("eos_token", token.content);
  }
  files.texts["tokenizer.json"] = bpe_to_json(model);
  files.texts["tokenizer_config.json"] = json_text(config);
  return files;
}

namespace {

// By what transformers 5 cuts a text for these classes, whatever tokenizer.json says.
struct ClassRules {
  const char *name, *of;  // as published_patterns() has it
  bool composes;
};
constexpr ClassRules rules_of_classes[] = {{"GPT2Tokenizer", "GPT-2", false},
                                           {"CodeGenTokenizer", "GPT-2", false},
                                           {"GPTNeoXTokenizer", "GPT-2", true},
                                           {"Qwen2Tokenizer", "Qwen 2", true}};

bool follows(const BpeModel& model, const ClassRules& rules) {
  return model.composes == rules.composes && model.rules.size() == 1 &&
         std::any_of(published_patterns().begin(), published_patterns().end(),
                     [&](const PublishedPattern& each) {
                       return std::string(each.of) == rules.of &&
                              SplitRule{each.pattern} == model.rules.front();
                     });
}

// Whether a token, as tokenizer_config.json has it, is an added one of the model.
bool is_added(const BpeModel& model, const std::string& name, const ConfigNode& token) {
  return std::any_of(model.added.begin(), model.added.end(), [&](const AddedToken& own) {
    const auto is_set = [&](const char* key) { return token.get(key).text() == "true"; };
    return own.content == name && (!token.is_map() || (is_set("lstrip") == own.strips_left &&
                                                       is_set("rstrip") == own.strips_right));
  });
}

}  // namespace

std::vector<std::string> said_otherwise(const std::filesystem::path& folder,
                                        const BpeModel& model) {
  std::vector<std::string> lines;
  const auto add = [&](const std::string& file, const std::string& key, const auto&... what) {
    lines.push_back(text((folder / file).string(), ": ", key, ": ", what..., "; heed reads ",
                         "tokenizer.json alone"));
  };
  for (const char* file : {"tokenizer_config.json", "special_tokens_map.json"}) {
    const ConfigNode said = read_tokenizer_json(folder / file);
    for (const char* key : {"added_tokens_decoder", "additional_special_tokens"}) {
      for (const ConfigNode& token : said.get(key).children()) {
        const std::string name = token.is_map() ? token.get("content").text() : token.text();
        if (is_added(model, name, token)) continue;
        add(file, key, printable(name, 50), " is not such an added token in tokenizer.json");
        break;  // one example of each
      }
    }
    const std::string blank = said.get("add_prefix_space").text();
    if (!blank.empty() && blank != "~" && (blank == "true") != model.prefix_space) {
      add(file, "add_prefix_space", blank, ", in tokenizer.json ",
          blank == "true" ? "false" : "true");
    }
    if (said.get("split_special_tokens").text() == "true") {
      add(file, "split_special_tokens", "true");
    }
    for (const ClassRules& rules : rules_of_classes) {
      const std::string given = said.get("tokenizer_class").text();
      if ((given == rules.name || given == text(rules.name, "Fast")) &&
          (!follows(model, rules) || (blank.empty() && model.prefix_space))) {
        add(file, "tokenizer_class", given, ": transformers 5 has rules of its own for it, by ",
            "which the same text may have other ids");
      }
    }
  }
  const ConfigNode added = read_tokenizer_json(folder / "added_tokens.json");
  for (const ConfigNode& token : added.children()) {
    if (is_added(model, token.key(), {})) continue;
    add("added_tokens.json", printable(token.key(), 50), "is no added token of tokenizer.json");
    break;
  }
  return lines;
}

int64_t pad_vocabulary(BpeModel& model, int64_t vocab_size) {
  const auto before = static_cast<int64_t>(model.tokens.size());
  std::set<std::string> taken = names_of(model);
  for (int64_t id = before; id < vocab_size; ++id) {
    add_special(model, taken, text("<|unused_", id, "|>"));
  }
  return std::max<int64_t>(0, vocab_size - before);
}

}  // namespace heed
