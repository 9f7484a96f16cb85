// Sentiment with negation: "Attention is not too shabby" is positive. A sentence has a clause with
// a judgement and usually a second, neutral clause. Either may be negated, once or twice. A bag of
// words cannot tell which clause a "not" belongs to.
#pragma once

#include "train/extras/toy_tasks/sentence_task.h"

namespace heed {

struct Negation : NoFields {
  static constexpr const char* name = "negation";
  static constexpr const char* help = "positive or negative: sentences with negated judgements";

  SentenceWords vocabulary() const;
  Question draw(Generator& generator) const;
  // Holds out combinations of a negation and a judgement, the same for every seed: for each
  // judgement one single negation and half of the double ones. Held-out examples are balanced
  // between positive and negative, so no single word predicts their class.
  bool is_held_out(const Question& choices) const;
  Sentence sentence(const Question& choices) const;
};
using NegationTask = SentenceTask<Negation>;
HEED_TASK(NegationTask, "negation");

}  // namespace heed
