#include "train/extras/toy_tasks/word_tokenizer.h"

#include <utf8proc.h>

#include <locale>
#include <sstream>

#include "layers/text/utf8.h"

namespace heed {

namespace {

std::string in_small_letters(const std::string& word) {
  std::string out;
  for (size_t at = 0; at < word.size();) {
    const Utf8Character c = utf8_at(word, at);
    require<ConfigError>(c.size > 0, "the text is not UTF-8");
    const utf8proc_int32_t small = utf8proc_tolower(static_cast<utf8proc_int32_t>(c.code));
    append_utf8(out, static_cast<char32_t>(small));
    at += c.size;
  }
  return out;
}

std::string without_signs(const std::string& word) {
  const char* const signs = ".,;:!?\"";
  const size_t first = word.find_first_not_of(signs);
  return first == std::string::npos ? ""
                                    : word.substr(first, word.find_last_not_of(signs) + 1 - first);
}

}  // namespace

WordTokenizer::WordTokenizer(std::vector<std::string> words, int64_t marks)
    : words_(std::move(words)), marks_from_(words_.size() - static_cast<size_t>(marks)) {
  for (size_t i = 0; i < words_.size(); ++i) {
    const auto id = static_cast<int32_t>(i);
    require<ConfigError>(ids_.emplace(words_[i], id).second, "tokenizer: \"", words_[i],
                         "\" comes twice");
    if (i < marks_from_) {
      lower_.push_back(in_small_letters(words_[i]));
      lower_ids_.emplace(lower_.back(), id);
    }
  }
}

std::vector<int32_t> WordTokenizer::encode(const std::string& text) const {
  std::vector<int32_t> ids;
  std::istringstream words(text);
  words.imbue(std::locale::classic());
  for (std::string word; words >> word;) {
    word = without_signs(in_small_letters(word));
    if (word.empty()) {
      continue;
    }
    const auto known = lower_ids_.find(word);
    if (known == lower_ids_.end()) {
      fail<ConfigError>("the word ", printable(word), " (word ", ids.size() + 1,
                        " of the text) is not in the vocabulary of ", lower_.size(), " words",
                        did_you_mean(word, lower_));
    }
    ids.push_back(known->second);
  }
  return ids;
}

std::string WordTokenizer::decode(std::span<const int32_t> ids) const {
  std::string out;
  for (const int32_t id : ids) {
    const std::string word = name(id);
    if (static_cast<size_t>(id) < marks_from_) {
      out += (out.empty() ? "" : " ") + word;
    }
  }
  return out;
}

std::string WordTokenizer::name(int32_t id) const {
  require(id >= 0 && static_cast<size_t>(id) < words_.size(), "tokenizer: expected ids from 0 to ",
          words_.size() - 1, ", got ", id);
  return words_[static_cast<size_t>(id)];
}

int32_t WordTokenizer::id(const std::string& word) const {
  const auto found = ids_.find(word);
  require<ConfigError>(found != ids_.end(), "tokenizer: there is no word ", printable(word));
  return found->second;
}

WordTokenizer with_marks(std::vector<std::string> words, const std::vector<std::string>& marks) {
  words.insert(words.end(), marks.begin(), marks.end());
  return {std::move(words), std::ssize(marks)};
}

std::vector<std::string> numbers_below(int64_t count) {
  std::vector<std::string> names;
  for (int64_t i = 0; i < count; ++i) {
    names.push_back(std::to_string(i));
  }
  return names;
}

}  // namespace heed
