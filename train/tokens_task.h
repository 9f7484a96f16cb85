// The next token of a file of little-endian 16-bit token ids, as nanoGPT's prepare.py writes them.
#pragma once

#include "train/window_data.h"

namespace heed {

class TokensTask final : public Task {
 public:
  static constexpr const char* help = "the next token of a file of 16-bit token ids";

  struct Config {
    std::string path;
    int64_t vocab_size = 0;
    std::string fingerprint;
    WindowConfig windows;
    void fields(Fields& f);
  };

  // Throws IoError for a file that cannot be read, has an odd size, an id that is not in the
  // vocabulary or another fingerprint; TaskError for one that is too short or too long for this
  // machine.
  TokensTask(const Config& c, const TaskSetup& setup);

  std::vector<std::pair<std::string, int64_t>> model_sizes() const override {
    return {{"vocab_size", vocab_size_}};
  }
  Batch next(int64_t batch_size, Generator& data) override { return data_.next(batch_size, data); }
  std::vector<int64_t> position() const override { return data_.position(); }
  void set_position(const std::vector<int64_t>& position) override { data_.set_position(position); }
  int64_t example_count(Split split) const override { return data_.example_count(split); }
  Batch examples(Split split, int64_t first, int64_t stride, int64_t count) const override {
    return data_.examples(split, first, stride, count);
  }
  int64_t training_tokens() const override { return data_.training_tokens(); }
  std::string description() const override;
  std::vector<std::filesystem::path> files() const override { return {path_}; }

 private:
  const std::filesystem::path path_;
  const int64_t vocab_size_;
  WindowData data_;
};
HEED_TASK(TokensTask, "tokens");

}  // namespace heed
