// The next character (or byte) of a text.
#pragma once

#include <memory>

#include "train/window_data.h"

namespace heed {

class TextTask final : public Task {
 public:
  static constexpr const char* help = "the next character or byte of a text file in UTF-8";

  struct Config {
    std::string path;
    std::string tokenizer = "char";
    std::string fingerprint;
    WindowConfig windows;
    void fields(Fields& f);
  };

  // Throws IoError for a file that cannot be read, is no UTF-8 or has another fingerprint;
  // TaskError for one that is too short or too long for this machine.
  TextTask(const Config& c, const TaskSetup& setup);

  std::vector<std::pair<std::string, int64_t>> model_sizes() const override {
    return {{"vocab_size", tokenizer_->vocab_size()}};
  }
  Batch next(int64_t batch_size, Generator& data) override { return data_->next(batch_size, data); }
  std::vector<int64_t> position() const override { return data_->position(); }
  void set_position(const std::vector<int64_t>& position) override {
    data_->set_position(position);
  }
  int64_t example_count(Split split) const override { return data_->example_count(split); }
  Batch examples(Split split, int64_t first, int64_t stride, int64_t count) const override {
    return data_->examples(split, first, stride, count);
  }
  int64_t training_tokens() const override { return data_->training_tokens(); }
  std::string description() const override;
  std::vector<std::filesystem::path> files() const override { return {path_}; }
  const Tokenizer* tokenizer() const override { return tokenizer_.get(); }

 private:
  const std::filesystem::path path_;
  std::unique_ptr<Tokenizer> tokenizer_;
  std::unique_ptr<WindowData> data_;
};
HEED_TASK(TextTask, "text");

}  // namespace heed
