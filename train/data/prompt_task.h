// What a run has without a text, as `heed import` makes it or when the text is not where it was: a
// tokenizer, to ask the model in.
#pragma once

#include "train/data/text_task.h"

namespace heed {

class PromptTask final : public Task {
 public:
  // Throws TaskError unless the run is loaded from a checkpoint, which has the tokenizer.
  PromptTask(const TextTask::Config& c, const TaskSetup& setup);

  ModelSizes model_sizes() const override { return {{"vocab_size", tokenizer_->vocab_size()}}; }
  // Throws ConfigError, but in a dry run: there are no examples.
  Batch next(int64_t batch_size, Generator& data) override;
  int64_t example_count(Split) const override { return 0; }
  Batch examples(Split split, const std::vector<int64_t>& which) const override;
  std::string description() const override;
  const Tokenizer* tokenizer() const override { return tokenizer_.get(); }

 private:
  const int64_t context_length_;
  std::unique_ptr<Tokenizer> tokenizer_;
};

}  // namespace heed
