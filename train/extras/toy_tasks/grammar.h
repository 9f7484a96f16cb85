// Words of made sentences.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heed {

// What stands between two clauses.
inline const std::vector<std::string> joints{"and", "but", "while"};

// What a choice, drawn with draw_below (made_examples.h), stands for.
template <class T>
const T& chosen(const std::vector<T>& from, int32_t number) {
  return from[static_cast<size_t>(number)];
}

// Appends the words of a text.
void append_words(std::vector<std::string>& words, const std::string& text);
// All distinct words of these texts, in order of first occurrence.
std::vector<std::string> words_of(const std::vector<std::vector<std::string>>& lists);
// The distinct words, in the same order.
std::vector<std::string> different_words(const std::vector<std::string>& words);

}  // namespace heed
