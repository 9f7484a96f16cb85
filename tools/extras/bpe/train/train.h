// Learning a byte pair encoding from text: Sennrich, Haddow and Birch 2016, "Neural Machine
// Translation of Rare Words with Subword Units", over bytes as in GPT-2.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tools/extras/bpe/train/model.h"
#include "tools/extras/bpe/train/splitter.h"
#include "tools/extras/bpe/train/text/published_patterns.h"

namespace heed {

struct BpeTraining {
  int64_t vocab_size = 0;  // with special tokens and the 256 bytes
  int64_t min_count = 2;   // a pair that is rarer does not merge
  std::string pattern = gpt2_pattern;
  std::vector<std::string> special = {};  // they get the first ids
};

// Counts the pieces of texts, then learns merges from them. The result is that of
// ByteLevelBPETokenizer of Hugging Face's tokenizers, merge by merge:
//   - a text is cut line by line, so no token has a newline and something after it
//   - ids: special tokens, bytes in the order of their characters (byte_text.h), merges
//   - the pair with the highest count merges; among equals the one with the smaller ids, left first
class BpeTrainer {
 public:
  // Throws ConfigError if vocab_size has no room for the bytes and special tokens.
  explicit BpeTrainer(BpeTraining options);

  // Counts the pieces of a text, valid UTF-8.
  void add(std::string_view text);
  // Learns the merges. The vocabulary is smaller than asked for if no more pairs are frequent
  // enough. Throws ConfigError if no text has been added.
  BpeModel train() const;

 private:
  const BpeTraining options_;
  const Splitter splitter_;
  Cutter cutter_;
  std::unordered_map<std::string, int64_t> counts_;  // of pieces
};

}  // namespace heed
