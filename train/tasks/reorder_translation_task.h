// A toy German and a toy English of the same meaning but another order: German puts its verbs last
// ("weil er den alten Brief heute lesen muss", "because he must read the old letter today"), so
// translating word by word fails and a decoder has to look back and forth. 5 to 14 words, as many
// on either side. The book's two sentences, "Kannst du mir helfen diesen Satz zu übersetzen" and
// "Can you help me to translate this sentence", are in the grammar and held out.
#pragma once

#include "train/tasks/pair_task.h"

namespace heed {

class ReorderTranslationTask final : public PairTask {
 public:
  static constexpr const char* help = "a toy German into a toy English with another word order";
  using Config = NoFields;

  ReorderTranslationTask(const Config&, const TaskSetup& setup);

  Pair pair(const Question& choices) const override;
  std::string description() const override;

 protected:
  Question draw(Generator& generator) const override;
  std::string text_of(std::span<const int32_t> target) const override;
};
HEED_TASK(ReorderTranslationTask, "reorder_translation");

}  // namespace heed
