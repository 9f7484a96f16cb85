// Uniformly random tokens for benchmarks: any vocabulary, no file, nothing to learn.
#pragma once

#include "train/data/task.h"
#include "train/data/windows.h"

namespace heed {

class SyntheticTask final : public Task {
 public:
  static constexpr const char* help = "tokens drawn at random, to time a model: nothing to learn";

  struct Config {
    int64_t vocab_size = 0;
    int64_t tokens = 100'000;
    WindowConfig windows;
    void fields(Fields& f);
    void check(ConfigErrors& errors, const ConfigNode& at) const { windows.check(errors, at); }
  };

  // Token t is torch.randint(vocab_size) from a separate generator with the seed of the run. Throws
  // TaskError if there are too few tokens for one window.
  SyntheticTask(const Config& c, const TaskSetup& setup);

  ModelSizes model_sizes() const override { return {{"vocab_size", vocab_size_}}; }
  std::string description() const override;
  Ids loss_targets(const Batch& batch) const override { return batch.targets; }

 private:
  const int64_t vocab_size_, tokens_;
};
HEED_TASK(SyntheticTask, "synthetic");

}  // namespace heed
