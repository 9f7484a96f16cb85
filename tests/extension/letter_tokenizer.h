// A tokenizer: small letters, and one token for everything else.
//   "To be" -> t o _ b e
#pragma once

#include <heed/train/tokenizer.h>

namespace extension {

using namespace heed;

class LetterTokenizer final : public Tokenizer {
 public:
  static constexpr const char* help = "a token for each of 26 letters, and one for the rest";
  using Config = NoFields;

  LetterTokenizer(const Config&, const TokenizerSetup&) {}

  int64_t vocab_size() const override { return 27; }
  const char* unit() const override { return "letter"; }
  std::vector<int32_t> encode(const std::string& text) const override {
    std::vector<int32_t> ids;
    for (const char c : text) {
      const char small = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
      ids.push_back(small >= 'a' && small <= 'z' ? small - 'a' : 26);
    }
    return ids;
  }
  std::string decode(std::span<const int32_t> ids) const override {
    std::string text;
    for (const int32_t id : ids) text += name(id);
    return text;
  }
  std::string name(int32_t id) const override {
    return {id < 26 ? static_cast<char>('a' + id) : '_'};
  }
};

}  // namespace extension

HEED_TOKENIZER(extension::LetterTokenizer, "letters");
