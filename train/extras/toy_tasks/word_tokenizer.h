// A tokenizer with a fixed list of words, for tasks that make their examples.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "train/data/task.h"

namespace heed {

class WordTokenizer final : public Tokenizer {
 public:
  // Splits text at blanks. An id is a word's index in the list. The last `marks` words ("<end>")
  // are special tokens: they cannot occur in a prompt and are left out of decoded text.
  WordTokenizer(std::vector<std::string> words, int64_t marks);

  int64_t vocab_size() const override { return static_cast<int64_t>(words_.size()); }
  // Ignores case, and . , ; : ! ? " at either end of a word. Throws ConfigError naming an unknown
  // word, its position and the nearest known one.
  std::vector<int32_t> encode(const std::string& text) const override;
  // The words separated by blanks.
  std::string decode(std::span<const int32_t> ids) const override;
  std::string name(int32_t id) const override;

  // The id of an exactly matching word. Throws ConfigError if there is none.
  int32_t id(const std::string& word) const;

 private:
  const std::vector<std::string> words_;
  const size_t marks_from_;
  std::map<std::string, int32_t> ids_;        // words as in the list
  std::map<std::string, int32_t> lower_ids_;  // words in lower case
  std::vector<std::string> lower_;            // words a prompt may contain, in lower case
};

// A tokenizer of words and marks, such as "<end>".
WordTokenizer with_marks(std::vector<std::string> words, const std::vector<std::string>& marks);

// Words for symbols: "0", "1", ...
std::vector<std::string> numbers_below(int64_t count);

}  // namespace heed
