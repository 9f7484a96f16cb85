// Words as tokens, from the data.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "train/tokenizers/tokenizer.h"

namespace heed {

// A word is a row of letters, digits and marks, with hyphens and apostrophes inside it. Any other
// character that is no blank is a token of its own; blanks are none. The vocabulary is sorted.
// Where some words of the data are too rare for it, its last token is <unk>, which stands for them
// and for every other unknown word. Without <unk> an unknown word is an error.
class WordsTokenizer final : public Tokenizer {
 public:
  static constexpr const char* help = "a token for each word and punctuation mark of the data";

  struct Config {
    int64_t min_count = 1;
    std::optional<int64_t> most;
    void fields(Fields& f);
  };

  WordsTokenizer(const Config& c, const TokenizerSetup& setup);

  int64_t vocab_size() const override { return static_cast<int64_t>(words_.size()); }
  const char* unit() const override { return "word"; }
  // Throws ConfigError naming the unknown words and the nearest known one.
  std::vector<int32_t> encode(const std::string& text) const override;
  // Words with blanks between them, but none before , . and the like.
  std::string decode(std::span<const int32_t> ids) const override;
  bool is_lossless() const override { return false; }
  std::string name(int32_t id) const override;
  std::string vocabulary() const override;

 private:
  bool has_unknown() const;
  [[noreturn]] void throw_unknown(const std::string& text) const;

  std::vector<std::string> words_;                          // by id
  std::unordered_map<std::string_view, int32_t> ids_ = {};  // views of words_
};
HEED_TOKENIZER(WordsTokenizer, "words");

}  // namespace heed
