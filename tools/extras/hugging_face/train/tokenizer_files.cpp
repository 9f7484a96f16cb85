#include "tools/extras/hugging_face/train/tokenizer_files.h"

#include <set>
#include <utility>

#include "tools/extras/bpe/train/bpe_tokenizer.h"
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

int64_t pad_vocabulary(BpeModel& model, int64_t vocab_size) {
  const auto before = static_cast<int64_t>(model.tokens.size());
  std::set<std::string> taken = names_of(model);
  for (int64_t id = before; id < vocab_size; ++id) {
    add_special(model, taken, text("<|unused_", id, "|>"));
  }
  return std::max<int64_t>(0, vocab_size - before);
}

}  // namespace heed
