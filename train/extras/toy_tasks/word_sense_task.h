// One word with two meanings: "she swam by the bank", "he paid at the bank". Most sentences have a
// second clause, which is usually about the other meaning. Seeing "swam" is not enough: "bank" has
// to attend to the verb of its own clause. A few have one clause only, or say which bank it is: "he
// had a picnic by the bank of the river". This one is held out.
#pragma once

#include "train/extras/toy_tasks/sentence_task.h"

namespace heed {

struct WordSense : NoFields {
  static constexpr const char* name = "word_sense";
  static constexpr const char* help = "which bank, of a river or for money, a sentence speaks of";

  SentenceWords vocabulary() const;
  Question draw(Generator& generator) const;
  // Holds out combinations of the verbs of the two clauses, the same for every seed.
  bool is_held_out(const Question& choices) const;
  Sentence sentence(const Question& choices) const;
};
using WordSenseTask = SentenceTask<WordSense>;
HEED_TASK(WordSenseTask, "word_sense");

}  // namespace heed
