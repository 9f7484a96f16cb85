// Batches of a long text: windows of T = context_length tokens. The model predicts, for each token
// of a window, the one that follows it. The window at offset o is
//   x = tokens[o], ..., tokens[o + T - 1]        y = tokens[o + 1], ..., tokens[o + T]
// The first train_fraction of the tokens is for training, the rest for validation.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "train/data/task.h"
#include "train/data/token_row.h"

namespace heed {

struct WindowConfig {
  int64_t context_length = 0;
  double train_fraction = 0.9;
  std::string sampling = "random";
  std::optional<int64_t> stride;  // for sampling = windows; default: context_length
  bool shuffle = true;            // for sampling = windows
  void fields(Fields& f);
  // Must be called from the check() of the struct that contains these fields.
  void check(ConfigErrors& errors, const ConfigNode& at) const;
};

// The examples of tasks on a long token sequence: `text`, `tokens`, `synthetic`.
class Windows final : public Dataset {
 public:
  // Throws TaskError if the training or the validation part is too short for one window, if all
  // tokens are the same (both reported at the field `source`), or, with sampling windows, if there
  // are fewer than batch_size (0: unknown). train_size: tokens to train on, if not train_fraction.
  Windows(TokenRow tokens, const WindowConfig& config, int64_t batch_size,
          const std::string& source = "path", std::optional<int64_t> train_size = {});

  // The next batch, x and y of shape (batch_size, T), at these offsets:
  //   sampling random    as in nanoGPT: torch.randint(tokens - T, (batch_size,))
  //   sampling windows   0, stride, 2 stride, ... in the order of DataLoader(shuffle), epoch after
  //                      epoch, without an incomplete last batch (drop_last)
  // A dry run, which computes shapes alone, draws nothing and leaves the ids undefined.
  Batch next(int64_t batch_size, Generator& data) override;

  // With random sampling only {} is allowed: the state of the generator is the whole position.
  void set_position(const std::vector<int64_t>& position) override;

  // The examples of a split are its windows at 0, T, 2T, ...
  int64_t example_count(Split split) const override;
  Batch examples(Split split, const std::vector<int64_t>& which) const override;
  int64_t training_tokens() const override { return train_size_; }

 private:
  void require_tokens(Split split, const std::string& source) const;
  void require_enough_windows(int64_t batch_size) const;
  int64_t part_size(Split split) const;
  int64_t stride() const { return config_.stride.value_or(config_.context_length); }
  int64_t window_count() const;  // for sampling = windows
  Batch batch_at(std::span<const int64_t> offsets) const;

  const TokenRow tokens_;
  const WindowConfig config_;
  const int64_t train_size_;
  std::vector<int64_t> offsets_;  // of the current batch
};

}  // namespace heed
