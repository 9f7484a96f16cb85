// Sentence pairs with the same meaning in two toy languages: "German" puts its verbs last,
// "English" does not ("weil er den alten Brief heute lesen muss", "because he must read the old
// letter today"). Translating word by word fails; the decoder has to look back and forth. Sentences
// have 5 to 14 words, the same number on both sides. Two pairs are always held out: "Kannst du mir
// helfen diesen Satz zu übersetzen", "Can you help me to translate this sentence" (the book), and
// "Könntest du mir einen Gefallen tun", "Could you do me a favor".
#pragma once

#include "train/wings/translation/pair_task.h"

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
