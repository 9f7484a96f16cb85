// Sentence pairs with the same meaning in two toy languages: "German" puts its verbs last,
// "English" does not ("weil er den alten Brief heute lesen muss", "because he must read the old
// letter today"). Translating word by word fails; the decoder has to look back and forth. Sentences
// have 5 to 14 words, the same number on both sides. Two pairs are always held out: "Kannst du mir
// helfen diesen Satz zu übersetzen", "Can you help me to translate this sentence" (the book), and
// "Könntest du mir einen Gefallen tun", "Could you do me a favor".
#pragma once

#include "train/extras/sequence_models/pair_task.h"
#include "train/extras/sequence_models/toy_german.h"

namespace heed {

struct ReorderTranslation : NoFields {
  static constexpr const char* help = "a toy German into a toy English with another word order";

  std::vector<std::string> source_words() const { return toy_german::german_words(); }
  std::vector<std::string> target_words() const { return toy_german::english_words(); }
  PairSizes longest() const { return {toy_german::longest, toy_german::longest}; }
  HeldOut held_out() const { return {most_held_out, toy_german::sentences_of_the_documents()}; }
  Question draw(Generator& generator) const { return toy_german::draw(generator); }
  SequencePair pair(const Question& choices, const PairWords& words) const;
  void check_length(size_t words) const;
  std::string as_text(std::string words) const;
  std::string description() const;
};
using ReorderTranslationTask = PairTask<ReorderTranslation>;
HEED_TASK(ReorderTranslationTask, "reorder_translation");

}  // namespace heed
