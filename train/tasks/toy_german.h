// The grammar of the task reorder_translation.
#pragma once

#include <string>
#include <vector>

#include "autograd/random/generator.h"

namespace heed::toy_german {

inline constexpr int64_t shortest = 5, longest = 14;  // words of a sentence, on either side

using Choices = std::vector<int32_t>;

struct Sentence {
  std::vector<std::string> german, english;
};

// Every word of a side, each once, in the order of the grammar's tables.
std::vector<std::string> german_words();
std::vector<std::string> english_words();

// The choices of a sentence of a length that is allowed; what a sentence does not need is 0, so
// different choices are different sentences.
Choices draw(Generator& generator);
Sentence sentence(const Choices& choices);

// "Kannst du mir helfen diesen Satz zu übersetzen".
Choices sentence_of_the_book();

}  // namespace heed::toy_german
