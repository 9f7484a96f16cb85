#include "tools/extras/hugging_face/train/tokenizer_files.h"

#include <set>

#include "tools/extras/bpe/train/bpe_tokenizer.h"
#include "tools/extras/bpe/train/write.h"
#include "tools/extras/hugging_face/train/json.h"

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

}  // namespace

TokenizerFiles tokenizer_files(const Tokenizer& tokenizer, int64_t context_length) {
  TokenizerFiles files;
  ConfigNode config = ConfigNode::map({{"tokenizer_class", "PreTrainedTokenizerFast"},
                                       {"clean_up_tokenization_spaces", false},
                                       {"model_max_length", context_length}});
  if (const auto* bpe = dynamic_cast<const BpeTokenizer*>(&tokenizer)) {
    for (const AddedToken& token : bpe->model().added) {
      if (token.content == "<|endoftext|>") {
        config.set("bos_token", token.content);
        config.set("eos_token", token.content);
        files.end_of_text = token.id;
      }
    }
    files.texts["tokenizer.json"] = bpe->stored();
  } else if (dynamic_cast<const CharTokenizer*>(&tokenizer) != nullptr ||
             dynamic_cast<const ByteTokenizer*>(&tokenizer) != nullptr) {
    files.texts["tokenizer.json"] = bpe_to_json(without_merges(tokenizer));
  } else {
    return files;
  }
  files.texts["tokenizer_config.json"] = json_text(config);
  return files;
}

int64_t pad_vocabulary(BpeModel& model, int64_t vocab_size) {
  const auto before = static_cast<int64_t>(model.tokens.size());
  const std::set<std::string> taken(model.tokens.begin(), model.tokens.end());
  for (int64_t id = before; id < vocab_size; ++id) {
    std::string name = text("<|unused_", id, "|>");
    while (taken.contains(name)) {
      name.insert(name.size() - 2, "_");
    }
    model.tokens.push_back(name);
    model.added.push_back({.id = static_cast<int32_t>(id), .content = name, .special = true});
  }
  return std::max<int64_t>(0, vocab_size - before);
}

}  // namespace heed
