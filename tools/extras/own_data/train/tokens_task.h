// Predicting the next token in a file of little-endian ids, without a header: of 16 bits each, as
// nanoGPT's prepare.py and `heed tokenizer encode` write them, or of 32 bits.
#pragma once

#include "tools/extras/own_data/train/token_file.h"
#include "train/data/task.h"
#include "train/data/windows.h"

namespace heed {

class TokensTask final : public Task {
 public:
  static constexpr const char* help = "the next token of a file of token ids";

  struct Config {
    std::string path;
    int64_t vocab_size = 0;
    std::string dtype = "auto";
    std::string fingerprint;
    WindowConfig windows;
    void fields(Fields& f);
    void check(ConfigErrors& errors, const ConfigNode& at) const { windows.check(errors, at); }
  };

  // Throws IoError if the file cannot be read, is something else (token_file.h), ends within an
  // id, contains an id outside the vocabulary or has another fingerprint; TaskError if it is too
  // short, or too long for this machine.
  TokensTask(const Config& c, const TaskSetup& setup);

  ModelSizes model_sizes() const override { return {{"vocab_size", vocab_size_}}; }
  std::string description() const override;
  Ids loss_targets(const Batch& batch) const override { return batch.targets; }

 private:
  const std::filesystem::path path_;
  const int64_t vocab_size_;
  const int bits_;  // of an id in the file
  int64_t tokens_ = 0;
};
HEED_TASK(TokensTask, "tokens");

}  // namespace heed
