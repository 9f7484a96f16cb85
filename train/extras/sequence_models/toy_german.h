// The grammar of the task reorder_translation.
#pragma once

#include <string>
#include <vector>

#include "autograd/random/generator.h"

namespace heed::toy_german {

inline constexpr int64_t shortest = 5, longest = 14;  // words per sentence, in both languages

using Choices = std::vector<int32_t>;

struct Sentence {
  std::vector<std::string> german, english;
};

// All words of a language, once each, in the order of the grammar's tables.
std::vector<std::string> german_words();
std::vector<std::string> english_words();

// Draws the choices of a sentence of permitted length. Unused choices are 0, so different choices
// give different sentences.
Choices draw(Generator& generator);
Sentence sentence(const Choices& choices);

// The choices of sentences that the documents print: "Kannst du mir helfen diesen Satz zu
// übersetzen" and "Könntest du mir einen Gefallen tun".
std::vector<Choices> sentences_of_the_documents();

}  // namespace heed::toy_german
