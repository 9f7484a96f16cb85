#include "train/data/prompt_task.h"

#include "autograd/base/modes.h"
#include "train/tokenizers/vocabulary.h"

namespace heed {

std::unique_ptr<Task> TextTask::make(const Config& c, const TaskSetup& setup) {
  if (c.path.empty()) {
    return std::make_unique<PromptTask>(c, setup);
  }
  return std::make_unique<TextTask>(c, setup);
}

PromptTask::PromptTask(const TextTask::Config& c, const TaskSetup& setup)
    : context_length_(c.windows.context_length) {
  if (setup.checkpoint.empty()) {
    throw TaskError("path", "expected a text file, got nothing");
  }
  tokenizer_ = tokenizer_registry().make(
      c.tokenizer, TokenizerSetup{setup.config_folder,
                                  setup.checkpoint,
                                  {},
                                  read_vocabulary(setup.vocabulary, stored_vocabulary)});
}

Batch PromptTask::next(int64_t batch_size, Generator&) {
  require<ConfigError>(dry_run(), "data: ", description());
  const Shape shape{batch_size, context_length_};
  return {Input(Ids::uninitialised(shape)), Ids::uninitialised(shape)};
}

Batch PromptTask::examples(Split, const std::vector<int64_t>& which) const {
  require<ConfigError>(which.empty(), "data: ", description());
  return {};
}

std::string PromptTask::description() const {
  return "no text to take examples from; --set data.path=FILE gives it one";
}

}  // namespace heed
