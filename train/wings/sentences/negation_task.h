// Sentiment with negation: "Attention is not too shabby" is positive. A sentence has a clause with
// a judgement and usually a second, neutral clause. Either may be negated, once or twice. A bag of
// words cannot tell which clause a "not" belongs to.
#pragma once

#include "train/wings/sentences/sentence_task.h"

namespace heed {

class NegationTask final : public SentenceTask {
 public:
  static constexpr const char* help = "positive or negative: sentences with negated judgements";
  using Config = NoFields;

  NegationTask(const Config&, const TaskSetup& setup);

  Sentence sentence(const Question& choices) const override;
  // Holds out combinations of a negation and a judgement, the same for every seed: for each
  // judgement one single negation and half of the double ones. Held-out examples are balanced
  // between positive and negative, so no single word predicts their class.
  bool is_held_out(const Question& choices) const override;
  std::string description() const override { return "negation: " + described(); }

 protected:
  Question draw(Generator& generator) const override;
};
HEED_TASK(NegationTask, "negation");

}  // namespace heed
