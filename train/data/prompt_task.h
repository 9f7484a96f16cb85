// What a run has without a text, as `heed import` makes it or when the text is not where it was: a
// tokenizer, to ask the model in.
#pragma once

#include "train/data/text_task.h"

namespace heed {

class PromptTask final : public Task {
 public:
  // Throws TaskError unless the run is loaded from a checkpoint, which has the tokenizer.
  // Outside a dry run its data throws ConfigError for a batch.
  PromptTask(const TextTask::Config& c, const TaskSetup& setup);

  ModelSizes model_sizes() const override { return {{"vocab_size", tokenizer_->vocab_size()}}; }
  std::string description() const override;
  const Tokenizer* tokenizer() const override { return tokenizer_.get(); }

 private:
  std::unique_ptr<Tokenizer> tokenizer_;
};

}  // namespace heed
