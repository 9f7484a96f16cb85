#include "tools/extras/own_data/train/words_tokenizer.h"

#include <algorithm>
#include <unordered_set>

#include "layers/text/display.h"
#include "layers/text/utf8.h"
#include "train/tokenizers/vocabulary.h"

namespace heed {

namespace {

const std::string unknown_word = "<unk>";  // a text has it as three tokens, so no word is like it

// Where the letters, marks and numbers end that begin at `at`; `at` itself if there are none.
size_t end_of_part(std::string_view text, size_t at) {
  while (at < text.size()) {
    const Utf8Character c = utf8_at(text, at);
    if (!is_word_part(c.code)) {
      break;
    }
    at += c.size;
  }
  return at;
}

bool joins_parts(char32_t code) { return code == '\'' || code == U'\u2019' || code == '-'; }

// Calls each(word) for the words of a text in order: parts of letters, marks and numbers, joined by
// single apostrophes or hyphens; or one character that is neither in a word nor white space. Throws
// ConfigError for what is not UTF-8: a prompt may be, files have been checked.
template <class F>
void for_words(std::string_view text, F&& each) {
  for (size_t at = 0; at < text.size();) {
    const Utf8Character first = utf8_at(text, at);
    require<ConfigError>(first.size > 0, "the text is not UTF-8 at byte ", at);
    size_t end = end_of_part(text, at);
    while (end > at && end < text.size()) {
      const Utf8Character joint = utf8_at(text, end);
      const size_t after = end + joint.size;
      const size_t next = joins_parts(joint.code) ? end_of_part(text, after) : after;
      if (next == after) {
        break;
      }
      end = next;
    }
    end = std::max(end, at + first.size);
    if (!is_space(first.code)) {
      each(text.substr(at, end - at));
    }
    at = end;
  }
}

// The words of the corpus, sorted; the rare ones become <unk>.
std::vector<std::string> words_of(std::span<const std::string_view> corpus,
                                  const WordsTokenizer::Config& c) {
  using Count = std::pair<std::string_view, int64_t>;
  std::unordered_map<std::string_view, int64_t> counts;
  for (const std::string_view text : corpus) {
    for_words(text, [&](std::string_view word) { ++counts[word]; });
  }
  std::vector<Count> kept;
  std::copy_if(counts.begin(), counts.end(), std::back_inserter(kept),
               [&](const Count& of) { return of.second >= c.min_count; });
  std::sort(kept.begin(), kept.end(), [](const Count& a, const Count& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  kept.resize(std::min(kept.size(), static_cast<size_t>(c.most.value_or(std::ssize(kept)))));
  std::vector<std::string> words;
  std::transform(kept.begin(), kept.end(), std::back_inserter(words),
                 [](const Count& of) { return std::string(of.first); });
  std::sort(words.begin(), words.end());
  if (words.size() < counts.size()) {
    words.push_back(unknown_word);
  }
  return words;
}

bool is_any_of(const std::string& word, std::initializer_list<std::string_view> signs) {
  return std::find(signs.begin(), signs.end(), word) != signs.end();
}

// True if the words have a blank between them.
bool are_apart(const std::string& before, const std::string& after) {
  return !is_any_of(after,
                    {",", ".", ";", ":", "!", "?", ")", "]", "}", "%", "…", "’", "”", "»"}) &&
         !is_any_of(before, {"(", "[", "{", "“", "«", "$", "#", "@"});
}

}  // namespace

void WordsTokenizer::Config::fields(Fields& f) {
  f.optional("min_count", min_count, at_least(1), "words that are rarer become <unk>");
  f.optional("most", most, at_least(1), "how many of the most frequent words are kept", "all");
}

WordsTokenizer::WordsTokenizer(const Config& c, const TokenizerSetup& setup)
    : words_(setup.vocabulary.empty() ? words_of(setup.corpus, c)
                                      : vocabulary_from_json(setup.vocabulary, "words")) {
  ids_.reserve(words_.size());
  for (size_t id = 0; id < words_.size(); ++id) {
    ids_.emplace(words_[id], static_cast<int32_t>(id));
  }
}

bool WordsTokenizer::has_unknown() const {
  return !words_.empty() && words_.back() == unknown_word;
}

std::vector<int32_t> WordsTokenizer::encode(const std::string& text) const {
  std::vector<int32_t> ids;
  bool known = true;
  for_words(text, [&](std::string_view word) {
    const auto found = ids_.find(word);
    known = known && (found != ids_.end() || has_unknown());
    ids.push_back(found != ids_.end() ? found->second : static_cast<int32_t>(words_.size()) - 1);
  });
  if (!known) {
    throw_unknown(text);
  }
  return ids;
}

// Lists every word of the text that is not in the vocabulary.
void WordsTokenizer::throw_unknown(const std::string& text) const {
  constexpr size_t most_listed = 20;
  std::vector<std::string> unknown;
  std::unordered_set<std::string_view> seen;
  int64_t position = 0, first = 0;
  for_words(text, [&](std::string_view word) {
    ++position;
    if (!ids_.contains(word) && seen.insert(word).second) {
      first = first == 0 ? position : first;
      unknown.emplace_back(word);
    }
  });
  std::string list;
  for (size_t i = 0; i < std::min(most_listed, unknown.size()); ++i) {
    list += (i > 0 ? ", " : " ") + printable(unknown[i]);
  }
  const std::string near = unknown.size() == 1 ? nearest(unknown.front(), words_) : "";
  const bool one = unknown.size() == 1;
  fail<ConfigError>("the word", one ? "" : "s", list, unknown.size() > most_listed ? ", ..." : "",
                    one ? " (word " : " (the first is word ", first, " of the text) ",
                    one ? "is" : "are", " not in the vocabulary of ", vocab_size(), " words",
                    near.empty() ? "" : ", did you mean " + printable(near) + "?",
                    " (tokenizer {type: words, min_count: 2} has <unk> for such words)");
}

std::string WordsTokenizer::decode(std::span<const int32_t> ids) const {
  std::string text;
  const std::string* before = nullptr;
  for (const int32_t id : ids) {
    require(id >= 0 && id < vocab_size(), "tokenizer: expected ids in [0, ", vocab_size(),
            "), got ", id);
    const std::string& word = words_[static_cast<size_t>(id)];
    text += before != nullptr && are_apart(*before, word) ? " " + word : word;
    before = &word;
  }
  return text;
}

std::string WordsTokenizer::name(int32_t id) const { return printable(decode({&id, 1}), 1000); }

std::string WordsTokenizer::vocabulary() const { return vocabulary_to_json("words", words_); }

}  // namespace heed
