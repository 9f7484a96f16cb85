// Next-word prediction on one sentence, "Your journey starts with one step": the six tokens with
// which the book explains attention, as the smallest possible language model. There are no other
// sentences, so nothing is held out and the evaluation uses the same sentence.
#pragma once

#include "train/data/task.h"
#include "train/extras/toy_tasks/word_tokenizer.h"

namespace heed {

class SixWordsTask final : public Task {
 public:
  static constexpr const char* help = "the next word of \"Your journey starts with one step\"";

  using Config = NoFields;
  SixWordsTask(const Config&, const TaskSetup&);

  ModelSizes model_sizes() const override {
    return {{"vocab_size", tokenizer_.vocab_size()}, {"context_length", 6}};
  }
  std::string description() const override;
  const Tokenizer* tokenizer() const override { return &tokenizer_; }
  // Greedy decoding until the sentence ends.
  Answer answer(Module& model, const std::string& prompt,
                const AnswerOptions& options) const override;

 protected:
  std::vector<int32_t> question_of(const std::string& prompt) const override;

 private:
  const WordTokenizer tokenizer_;
};
HEED_TASK(SixWordsTask, "six_words");

}  // namespace heed
