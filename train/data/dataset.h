// What a model is trained and evaluated on: batches for training, a fixed set for validation.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "layers/module/input.h"
#include "train/data/epochs.h"

namespace heed {

// A target that does not count for the loss (PyTorch's ignore_index).
inline constexpr int32_t ignored_target = -100;

// A batch of B sequences: the model's input and the expected output.
struct Batch {
  Input input;  // ids (B, T), or x (B, ...); mask if padded; source_ids for encoder_decoder
  // One per output row, or ignored_target: (B, T) tokens or (B) classes. None if targets are
  // numbers, or if the task's own loss() needs none.
  Ids targets;
  Array target_values;                // numbers that the output should be, of its shape; or none
  std::vector<int64_t> numbers = {};  // of the fixed examples, if their scores are kept one by one
};

// The shape of what the model is given: of the ids or, without ids, of x.
const Shape& input_shape(const Batch& batch);

enum class Split { train, validation };

// Throws ShapeError unless every number in `which` is that of one of `available` examples.
void require_examples(const std::vector<int64_t>& which, int64_t available);

// The examples of a task. Training takes them batch by batch, an evaluation by their numbers.
class Dataset {
 public:
  virtual ~Dataset() = default;

  // The next training batch. All randomness is drawn from `data`. A data set of fewer than
  // batch_size examples gives all of them. By default examples() in the order of `epochs_`.
  virtual Batch next(int64_t batch_size, Generator& data);
  // The position in the training set between two calls of next(), for checkpoints; may be empty.
  virtual std::vector<int64_t> position() const { return epochs_.position(); }
  // Throws IoError for a position that position() cannot return.
  virtual void set_position(const std::vector<int64_t>& at) { epochs_.set_position(at); }

  // The number of fixed examples for evaluating a split (windows of a text, held-out sequences).
  virtual int64_t example_count(Split split) const = 0;
  // The examples with these numbers, each from 0 to example_count(split) - 1, as one batch.
  virtual Batch examples(Split split, const std::vector<int64_t>& which) const = 0;

  // How many examples were left out, as they are too long.
  virtual int64_t left_out() const { return 0; }
  // The number of tokens in the training data; 0 if they are made without end, or there are none.
  virtual int64_t training_tokens() const { return 0; }

 protected:
  Epochs epochs_{0, false};  // over the training examples, set in the constructor; or unused
};

// Examples that a function gives by their numbers; training takes them in the order of epochs.
class FixedExamples final : public Dataset {
 public:
  using Give = std::function<Batch(Split split, const std::vector<int64_t>& which)>;
  struct Counts {
    int64_t train = 0, validation = 0;
  };
  FixedExamples(const Counts& counts, bool shuffle, Give give, int64_t training_tokens = 0);

  int64_t example_count(Split split) const override {
    return split == Split::train ? counts_.train : counts_.validation;
  }
  Batch examples(Split split, const std::vector<int64_t>& which) const override;
  int64_t training_tokens() const override { return training_tokens_; }

 private:
  const Counts counts_;
  const Give give_;
  const int64_t training_tokens_;
};

// Those of a task without its file: none. Batches of a dry run have `shape`, but for the first
// axis, and are ids or, with a class each, numbers.
class NoExamples final : public Dataset {
 public:
  explicit NoExamples(const Shape& shape, bool numbers = false)
      : shape_(shape), numbers_(numbers) {}
  Batch next(int64_t batch_size, Generator& data) override;
  int64_t example_count(Split) const override { return 0; }
  Batch examples(Split, const std::vector<int64_t>& which) const override {
    require<ConfigError>(which.empty(), missing);
    return {};
  }

 private:
  static constexpr const char* missing =
      "data: no file to take examples from; --set data.path=FILE gives it one";
  const Shape shape_;
  const bool numbers_;
};

}  // namespace heed
