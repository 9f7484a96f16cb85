// Training and validation windows of a long token sequence.
//
// A window at offset o is x = tokens[o .. o + T), y = tokens[o + 1 .. o + T], T = context_length.
// The first train_fraction of the tokens is for training, the rest for validation.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "train/data/task.h"

namespace heed {

// Token ids, stored in 8 or 16 bits each if the vocabulary size allows it.
class TokenRow {
 public:
  TokenRow() = default;
  // Empty, for ids below vocab_size.
  explicit TokenRow(int64_t vocab_size);
  explicit TokenRow(std::vector<uint16_t> ids) : ids_(std::move(ids)) {}
  explicit TokenRow(const std::vector<uint32_t>& ids)
      : ids_(std::vector<int32_t>(ids.begin(), ids.end())) {}

  int64_t size() const;
  // Whether all are the same.
  bool is_constant() const;
  // Room for `count` tokens in all, so that append() does not copy those before.
  void reserve(int64_t count);
  void append(std::span<const int32_t> ids);
  // out[i] = tokens[begin + i]
  void copy(int64_t begin, std::span<int32_t> out) const;

 private:
  std::variant<std::vector<uint8_t>, std::vector<uint16_t>, std::vector<int32_t>> ids_;
};

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
  // Throws TaskError if a part is too short for one window or all tokens are the same (reported at
  // the field `source`), or if there are fewer windows than one batch (batch_size; 0: unknown).
  // train_size: how many tokens are for training, if not exactly train_fraction of them.
  Windows(TokenRow tokens, const WindowConfig& config, int64_t batch_size,
          const std::string& source = "path", std::optional<int64_t> train_size = {});

  // The next batch, x and y of shape (batch_size, T). In a dry run nothing is drawn and the ids are
  // undefined.
  //   sampling random    offsets as in nanoGPT: torch.randint(tokens - T, (batch_size,))
  //   sampling windows   0, stride, 2 stride, ... in the order of DataLoader(shuffle), epoch after
  //                      epoch, without an incomplete last batch (drop_last)
  Batch next(int64_t batch_size, Generator& data) override;

  // {} for random sampling.
  void set_position(const std::vector<int64_t>& position) override;

  // The number of windows of a split, which start at 0, T, 2T, ...
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
