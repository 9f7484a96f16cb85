// Sentiment where words turn each other round: "Attention is not too shabby" is praise. A sentence
// says one thing with a judgement in it and mostly a second thing without one, and either may be
// negated, once or twice. A bag of words cannot know what a "not" belongs to.
#pragma once

#include "train/tasks/sentence_task.h"

namespace heed {

class NegationTask final : public SentenceTask {
 public:
  static constexpr const char* help = "positive or negative: sentences with negated judgements";
  using Config = NoFields;

  NegationTask(const Config&, const TaskSetup& setup);

  Sentence sentence(const Question& choices) const override;
  // Combinations of a negation with a judgement, the same for every seed: for each judgement a
  // single negation and half of the double ones. They are as likely to praise as to blame, so no
  // word alone tells anything about what is held out.
  bool is_held_out(const Question& choices) const override;
  std::string description() const override { return "negation: " + described(); }

 protected:
  Question draw(Generator& generator) const override;
};
HEED_TASK(NegationTask, "negation");

}  // namespace heed
