#include "train/data/prompt_task.h"

#include "autograd/base/modes.h"
#include "train/tokenizers/vocabulary.h"

namespace heed {

namespace {

constexpr const char* no_text = "no text to take examples from; --set data.path=FILE gives it one";

class NoExamples final : public Dataset {
 public:
  explicit NoExamples(int64_t context_length) : context_length_(context_length) {}
  Batch next(int64_t batch_size, Generator&) override {
    require<ConfigError>(dry_run(), "data: ", no_text);
    const Shape shape{batch_size, context_length_};
    return {Input(Ids::uninitialised(shape)), Ids::uninitialised(shape)};
  }
  int64_t example_count(Split) const override { return 0; }
  Batch examples(Split, const std::vector<int64_t>& which) const override {
    require<ConfigError>(which.empty(), "data: ", no_text);
    return {};
  }

 private:
  const int64_t context_length_;
};

}  // namespace

std::unique_ptr<Task> TextTask::make(const Config& c, const TaskSetup& setup) {
  if (c.path.empty()) {
    return std::make_unique<PromptTask>(c, setup);
  }
  return std::make_unique<TextTask>(c, setup);
}

PromptTask::PromptTask(const TextTask::Config& c, const TaskSetup& setup) {
  if (setup.checkpoint.empty()) {
    throw TaskError("path", "expected a text file, got nothing");
  }
  tokenizer_ = tokenizer_registry().make(
      c.tokenizer, TokenizerSetup{setup.config_folder,
                                  setup.checkpoint,
                                  {},
                                  read_vocabulary(setup.vocabulary, stored_vocabulary)});
  data_ = std::make_unique<NoExamples>(c.windows.context_length);
}

std::string PromptTask::description() const { return no_text; }

}  // namespace heed
