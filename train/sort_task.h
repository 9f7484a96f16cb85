// Sequences of symbols in, the same symbols sorted out. Every place is predicted at once from the
// whole sequence, so there is no future to leak: any attention may be compared on it.
#pragma once

#include "train/task.h"

namespace heed {

class SortTask final : public Task {
 public:
  static constexpr const char* help = "sequences of symbols, to be given back sorted";

  struct Config {
    int64_t length = 8;
    int64_t symbols = 32;
    void fields(Fields& f);
  };

  SortTask(const Config& c, const TaskSetup& setup);

  std::vector<std::pair<std::string, int64_t>> model_sizes() const override {
    return {{"vocab_size", config_.symbols}, {"context_length", config_.length}};
  }
  // Every symbol is torch.randint(symbols); sequences that are held out are drawn again. In a dry
  // run nothing is drawn and the ids mean nothing.
  Batch next(int64_t batch_size, Generator& data) override;

  // Made from the seed of the config: 2,000 different sequences a split, or a tenth of all there
  // are when that is less. Those for validation never come up in training.
  int64_t example_count(Split split) const override;
  Batch examples(Split split, int64_t first, int64_t stride, int64_t count) const override;

  int64_t training_tokens() const override { return 0; }  // made as they are needed, without end
  std::string description() const override;

 private:
  using Sequence = std::vector<int32_t>;

  std::vector<Sequence> draw_different(int64_t count, Generator& generator) const;
  void draw(Sequence& sequence, Generator& generator) const;
  bool is_held_out(const Sequence& sequence) const;

  const Config config_;
  std::vector<Sequence> held_out_;  // in lexicographic order
  std::vector<Sequence> sample_;    // of what is trained on, in the same order
};
HEED_TASK(SortTask, "sort");

}  // namespace heed
