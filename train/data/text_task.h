// Predicting the next token of a text: a character, a byte or a part of a word.
#pragma once

#include "train/data/task.h"
#include "train/data/windows.h"

namespace heed {

class TextTask final : public Task {
 public:
  static constexpr const char* help = "the next token of a text file in UTF-8";

  struct Config {
    std::string path;
    Choice tokenizer{"char"};
    std::string fingerprint;
    WindowConfig windows;
    void fields(Fields& f);
    void check(ConfigErrors& errors, const ConfigNode& at) const { windows.check(errors, at); }
  };

  // A PromptTask (prompt_task.h) if there is no path, as in the runs that `heed import` makes.
  static std::unique_ptr<Task> make(const Config& c, const TaskSetup& setup);
  // Throws IoError if the file, or that of the tokenizer, cannot be read, is not UTF-8 or has
  // another fingerprint; TaskError if the text is too short, or too long for this machine.
  TextTask(const Config& c, const TaskSetup& setup);

  ModelSizes model_sizes() const override { return {{"vocab_size", tokenizer_->vocab_size()}}; }
  std::string description() const override;
  std::vector<std::filesystem::path> files() const override { return {path_}; }
  const Tokenizer* tokenizer() const override { return tokenizer_.get(); }
  int64_t target_bytes(const Batch& batch) const override;

 private:
  const std::filesystem::path path_;
  std::unique_ptr<Tokenizer> tokenizer_;
  std::vector<int32_t> bytes_of_token_;  // by id; none if tokens are not pieces of the text
  int64_t bytes_ = 0, tokens_ = 0;       // of the text
};
HEED_TASK(TextTask, "text");

}  // namespace heed
