// Tokens as text, one after another.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "train/tokenizers/tokenizer.h"

namespace heed {

// Decodes tokens that follow the token `before`; -1: none.
std::string decode_after(const Tokenizer& tokenizer, int32_t before, std::span<const int32_t> ids);

// Decodes tokens to text as they arrive, in whole characters. The bytes of an incomplete character
// are held back until the rest arrives; invalid bytes become U+FFFD.
class TextStream {
 public:
  explicit TextStream(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

  std::string push(int32_t id);
  // A text before the tokens, whose last token is `last`: the end of it may be completed by them.
  std::string push(const std::string& text, int32_t last = -1);
  // The bytes still held back, after the last token.
  std::string finish() { return take(true); }

 private:
  std::string take(bool all);

  const Tokenizer& tokenizer_;
  int32_t last_ = -1;
  std::string waiting_;
};

// Ends a text before the first of some strings, wherever the pieces that it comes in are cut.
struct StopStrings {
  // Returns what can be shown after the next piece. What may begin a string waits.
  std::string push(const std::string& piece);

  std::vector<std::string> stops;
  std::string waiting = {};
  bool reached = false;
};

}  // namespace heed
