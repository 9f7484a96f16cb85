// Finds the added tokens of a tokenizer in a text. A tokenizer file may have 100,000 of them.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "tools/extras/bpe/train/model.h"

namespace heed {

class AddedTokens {
 public:
  // No two have the same content, and none is empty.
  explicit AddedTokens(std::vector<AddedToken> tokens);

  // The first token in `text` from byte `from` on, the longest if several begin there, and its
  // place in `at`. Null if there is none; `at` is then the end of the text.
  const AddedToken* find(std::string_view text, size_t from, size_t& at) const;

 private:
  // The longest token that `text` begins with; null if there is none.
  const AddedToken* longest_prefix(std::string_view text) const;

  static constexpr size_t none = static_cast<size_t>(-1);

  std::vector<AddedToken> tokens_;  // sorted by their bytes
  std::vector<size_t> prefix_;      // of each token: the longest other one that it begins with
  std::array<bool, 256> begins_{};  // whether a token begins with this byte
};

}  // namespace heed
