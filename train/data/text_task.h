// Predicting the next token of a text: a character, a byte or a part of a word.
#pragma once

#include "train/data/task.h"
#include "train/data/windows.h"

namespace heed {

class TextTask final : public Task {
 public:
  static constexpr const char* help = "the next token of a text in UTF-8";

  struct Config {
    std::vector<std::string> path;
    Choice tokenizer{"char"};
    std::string fingerprint;
    WindowConfig windows;
    void fields(Fields& f);
    void check(ConfigErrors& errors, const ConfigNode& at) const { windows.check(errors, at); }
  };

  // Throws IoError if a file, or that of the tokenizer, cannot be read, is not UTF-8 or has another
  // fingerprint; TaskError if the text is too short, or too long for this machine. If it is absent,
  // or its path is "" as in runs that `heed import` makes, the checkpoint has the tokenizer, and
  // the data throws ConfigError for examples.
  TextTask(const Config& c, const TaskSetup& setup);

  ModelSizes model_sizes() const override { return {{"vocab_size", tokenizer_->vocab_size()}}; }
  std::string description() const override;
  Ids loss_targets(const Batch& batch) const override { return batch.targets; }
  const Tokenizer* tokenizer() const override { return tokenizer_.get(); }
  int64_t target_bytes(const Batch& batch) const override;
  std::vector<Answer> answers(Module& model, const std::string& prompt,
                              std::span<const AnswerOptions> options) const override {
    return continued(model, *tokenizer_, prompt, options);
  }

 private:
  // Makes the tokenizer, the tokens and their windows of a text.
  void read(const Config& c, const TaskSetup& setup);

  std::string name_;  // of the file, or which files
  std::unique_ptr<Tokenizer> tokenizer_;
  std::vector<int32_t> bytes_of_token_;  // by id; none if tokens are not pieces of the text
  int64_t bytes_ = 0, tokens_ = 0;       // of the text
};
HEED_TASK(TextTask, "text");

}  // namespace heed
