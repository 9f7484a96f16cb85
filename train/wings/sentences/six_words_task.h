// Next-word prediction on one sentence, "Your journey starts with one step": the six tokens with
// which the book explains attention, as the smallest possible language model. There are no other
// sentences, so nothing is held out and the evaluation uses the same sentence.
#pragma once

#include "train/data/task.h"
#include "train/wings/made/word_tokenizer.h"

namespace heed {

class SixWordsTask final : public Task {
 public:
  static constexpr const char* help = "the next word of \"Your journey starts with one step\"";

  using Config = NoFields;
  SixWordsTask(const Config&, const TaskSetup&);

  ModelSizes model_sizes() const override {
    return {{"vocab_size", tokenizer_.vocab_size()}, {"context_length", 6}};
  }
  Batch next(int64_t batch_size, Generator&) override { return sentences(batch_size); }
  int64_t example_count(Split) const override { return 1; }
  Batch examples(Split split, const std::vector<int64_t>& which) const override;
  int64_t training_tokens() const override { return 6; }
  std::string description() const override;
  const Tokenizer* tokenizer() const override { return &tokenizer_; }
  void check_prompt(const std::string& prompt) const override;
  // Greedy decoding until the sentence ends.
  Answer answer(Module& model, const std::string& prompt,
                const AnswerOptions& options) const override;

 private:
  // ids (B, 6); targets (B, 6), the next word at each position, the last of them <end>.
  Batch sentences(int64_t count) const;

  const WordTokenizer tokenizer_;
};
HEED_TASK(SixWordsTask, "six_words");

}  // namespace heed
