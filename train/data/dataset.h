// What a model is trained and evaluated on: batches for training, a fixed set for validation.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
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

// Fields of a model by name: {"vocab_size", 65}.
using ModelSizes = std::vector<std::pair<std::string, int64_t>>;

class Dataset {
 public:
  virtual ~Dataset() = default;

  // What the data determines: filled in if the config does not give it, checked if it does.
  virtual ModelSizes model_sizes() const = 0;
  // The size of this name; 0: there is none.
  int64_t model_size(const std::string& name) const;
  // The required size of the last axis of the model's output; 0: any size. Default: num_classes or,
  // without it, vocab_size, as returned by model_sizes().
  virtual int64_t output_size() const;

  // The next training batch. All randomness is drawn from `data`. A data set of fewer than
  // batch_size examples gives all of them. By default examples() in the order of `epochs_`.
  virtual Batch next(int64_t batch_size, Generator& data);
  // The position in the training set between two calls of next(), for checkpoints; may be empty.
  virtual std::vector<int64_t> position() const { return epochs_.position(); }
  virtual void set_position(const std::vector<int64_t>& at) { epochs_.set_position(at); }

  // The number of fixed examples for evaluating a split (windows of a text, held-out sequences).
  virtual int64_t example_count(Split split) const = 0;
  // The examples with these numbers, each from 0 to example_count(split) - 1, as one batch.
  virtual Batch examples(Split split, const std::vector<int64_t>& which) const = 0;

  // The number of tokens in the training data; 0 if they are made without end, or there are none.
  virtual int64_t training_tokens() const { return 0; }
  // A line that describes the data in the plan: "tinyshakespeare.txt: 1,115,394 characters, 65
  // different".
  virtual std::string description() const = 0;
  // The files that were read; their size and hash are added to the resolved config.
  virtual std::vector<std::filesystem::path> files() const { return {}; }

 protected:
  Epochs epochs_{0, false};  // over the training examples, set in the constructor; or unused
};

}  // namespace heed
