// The examples of a user's own files: read once, split, kept as tokens, padded, in the order of
// epochs. An example is two lists of tokens, what a model is given and what it should make of it.
// The task that has them says how a row becomes an example, and examples a batch.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/extras/own_data/train/split_rows.h"
#include "train/data/pair_format.h"
#include "train/data/token_row.h"

namespace heed {

inline constexpr const char* no_examples = "no file to take examples from; --set data.path=FILE";

struct OwnExample {
  std::vector<int32_t> input, target;
  int64_t tokens = 0;  // that the model reads and writes
};

// The tokens of a cell. Throws ConfigError if it has none.
std::vector<int32_t> tokens_of(const Tokenizer& tokenizer, const std::string& cell);

// Makes examples of rows, and batches of examples: the task that has them.
class ExampleMaker {
 public:
  // What it throws as a ConfigError is a mistake in the row.
  virtual OwnExample example(const TextRow& row) const = 0;
  // A batch of empty examples with room for lists of these lengths.
  virtual Batch blank(int64_t count, const PairSizes& room) const = 0;
  // Writes an example as number `i` of such a batch.
  virtual void fill(Batch& batch, int64_t i, std::span<const int32_t> input,
                    std::span<const int32_t> target) const = 0;

 protected:
  ~ExampleMaker() = default;
};

class OwnExamples final : public Dataset {
 public:
  // Keeps the examples that are not longer than max_length. All tokens and targets are below `ids`.
  // The maker outlives them; what its example() reads has to be there before. `room` is what the
  // model was made for. Without files there are no examples, and it is longest(); longer examples
  // for a test are left out. Throws RowError, TaskError if there are too few examples for a batch,
  // and IoError if a file has another fingerprint than that of the config.
  OwnExamples(const ExampleMaker& maker, const SplitRows& rows, const OwnDataConfig& config,
              int64_t ids, const TaskSetup& setup, const PairSizes& room);

  Batch next(int64_t batch_size, Generator& data) override;
  int64_t example_count(Split split) const override { return std::ssize(of(split)); }
  Batch examples(Split split, const std::vector<int64_t>& which) const override;
  int64_t training_tokens() const override { return training_tokens_; }

  std::vector<int32_t> input(Split split, int64_t example) const {
    return list(2 * number_of(split, example));
  }
  std::vector<int32_t> target(Split split, int64_t example) const {
    return list(2 * number_of(split, example) + 1);
  }
  const PairSizes& longest() const { return longest_; }
  int64_t left_out() const override { return too_long_; }
  bool are_of_a_test() const { return most_.source < INT64_MAX; }
  // Its line in its file; negative in the second file.
  int32_t line(Split split, int64_t example) const {
    return lines_[static_cast<size_t>(number_of(split, example))];
  }

 private:
  const std::vector<int32_t>& of(Split split) const {
    return numbers_[split == Split::train ? 0 : 1];
  }
  // Its number among all examples.
  int64_t number_of(Split split, int64_t example) const {
    return of(split)[static_cast<size_t>(example)];
  }
  void take(const SplitRows& rows, size_t file);
  void keep(const OwnExample& example);
  void require_enough(const SplitRows& rows, int64_t batch_size) const;
  bool is_too_long(const std::vector<int32_t>& list, int64_t most) const {
    return std::ssize(list) > std::min(most, max_length_.value_or(most));
  }
  int64_t length(int64_t list) const;
  std::vector<int32_t> list(int64_t at) const;
  Batch batch_of(std::span<const int64_t> numbers) const;

  const std::optional<int64_t> max_length_;
  const PairSizes most_;  // of a model that is tested
  const ExampleMaker& maker_;
  TokenRow tokens_;               // the input of example 0, its target, the input of 1, ...
  std::vector<int64_t> ends_{0};  // list k is from ends_[k] to ends_[k + 1]
  PairSizes longest_;
  std::array<std::vector<int32_t>, 2> numbers_;  // of the examples of each split
  std::vector<int32_t> lines_;                   // of each example
  int64_t too_long_ = 0, training_tokens_ = 0;
};

}  // namespace heed
