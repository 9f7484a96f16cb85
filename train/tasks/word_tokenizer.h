// Text as words out of a list: what the tasks with sentences of their own share.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "train/data/task.h"

namespace heed {

class WordTokenizer final : public Tokenizer {
 public:
  // Words of a text are told apart by blanks. The ids are the places in the list; the last `marks`
  // of them ("<end>") stand for no text: a prompt cannot hold them, decoded text leaves them out.
  WordTokenizer(std::vector<std::string> words, int64_t marks);

  int64_t vocab_size() const override { return static_cast<int64_t>(words_.size()); }
  // Capital letters and the signs . , ; : ! ? " at either end of a word do not matter. Throws
  // ConfigError that names an unknown word, its place and the nearest known one.
  std::vector<int32_t> encode(const std::string& text) const override;
  // The words with blanks between them, the first one with a capital letter if `capital`.
  std::string decode(std::span<const int32_t> ids) const override { return sentence(ids, false); }
  std::string sentence(std::span<const int32_t> ids, bool capital = true) const;
  std::string name(int32_t id) const override;

  // The id of a word of the list, to the letter. Throws ConfigError for another one.
  int32_t id(const std::string& word) const;

 private:
  const std::vector<std::string> words_;
  const size_t marks_from_;
  std::map<std::string, int32_t> ids_;        // of the words as they stand in the list
  std::map<std::string, int32_t> lower_ids_;  // in small letters
  std::vector<std::string> lower_;            // what a prompt may hold
};

// Appends the words of a text.
void append_words(std::vector<std::string>& words, const std::string& text);
// All words of these lists of texts, each once, in the order in which they come first.
std::vector<std::string> words_of(const std::vector<std::vector<std::string>>& lists);
// The words, each once, in the same order.
std::vector<std::string> different_words(const std::vector<std::string>& words);

}  // namespace heed
