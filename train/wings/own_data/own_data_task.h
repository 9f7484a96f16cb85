// Base of the tasks on users' own files: which examples there are, in which order they come, and
// what is said about them. A derived class holds their tokens.
#pragma once

#include <array>
#include <functional>
#include <memory>

#include "train/data/epochs.h"
#include "train/wings/own_data/split_rows.h"

namespace heed {

class OwnDataTask : public Task, public ReadableExamples {
 public:
  Batch next(int64_t batch_size, Generator& data) final;
  std::vector<int64_t> position() const final { return epochs_.position(); }
  void set_position(const std::vector<int64_t>& at) final { epochs_.set_position(at); }
  int64_t example_count(Split split) const final { return static_cast<int64_t>(of(split).size()); }
  Batch examples(Split split, const std::vector<int64_t>& which) const final;
  int64_t training_tokens() const final { return training_tokens_; }
  std::string description() const final;
  std::vector<std::pair<std::string, std::string>> details() const override;
  std::vector<std::string> warnings() const override;
  std::vector<std::filesystem::path> files() const final { return paths_; }
  bool continues_prompt() const override { return false; }
  void score(const Array& output, const Batch& batch, Score& score) const override;
  const ReadableExamples* readable_examples() const final { return this; }
  std::string location(Split split, int64_t example) const final;

 protected:
  OwnDataTask(const OwnDataConfig& c, const SplitRows& rows);

  // The tokenizer of the config, trained on a corpus or with the vocabulary that a checkpoint has
  // under this name. Throws TaskError.
  std::shared_ptr<const Tokenizer> make_tokenizer(const TaskSetup& setup,
                                                  std::span<const std::string_view> corpus,
                                                  const char* kept_as) const;

  // Walks through all rows. add(row) takes the tokens of a row and returns their number, 0 for one
  // that is longer than max_length. What it throws as a ConfigError is a mistake in the row. Must
  // be called once, in the constructor. Throws RowError, TaskError if there are too few examples,
  // and IoError if a file has another fingerprint than that of the config.
  using AddRow = std::function<int64_t(const TextRows::Row& row)>;
  void take(const SplitRows& rows, const TaskSetup& setup, const AddRow& add);
  // The tokens of a cell. Throws ConfigError if it has none.
  static std::vector<int32_t> tokens_of(const Tokenizer& tokenizer, std::string_view cell);
  std::optional<int64_t> max_length() const { return config_.max_length; }
  bool is_too_long(size_t tokens) const {
    return config_.max_length && static_cast<int64_t>(tokens) > *config_.max_length;
  }

  // A batch of examples, by their numbers in the order in which take() had them. In a dry run only
  // how many there are matters, and the batch is as long as can be.
  virtual Batch batch_of(std::span<const int64_t> numbers) const = 0;
  // "1,023 words", for the description.
  virtual std::string vocabulary_in_words() const = 0;
  // The number of an example, as in batch_of().
  int64_t number_of(Split split, int64_t example) const {
    return of(split)[static_cast<size_t>(example)];
  }

 private:
  const std::vector<int32_t>& of(Split split) const {
    return numbers_[split == Split::train ? 0 : 1];
  }

  const OwnDataConfig config_;
  std::vector<std::filesystem::path> paths_;
  std::string columns_;                          // which were taken
  std::vector<std::string> warnings_;            // about the first line of a file
  std::array<std::vector<int32_t>, 2> numbers_;  // of the examples of each split
  std::vector<int32_t> lines_;                   // of each example; one of the second file: -line
  int64_t too_long_ = 0, training_tokens_ = 0;
  const int64_t validation_rows_seen_;
  Epochs epochs_{0, true};
};

// Room in a batch for sequences of up to `length` tokens and one mark: in all one of four lengths,
// multiples of 8, and at most `longest` without the mark. Each shape of a batch keeps its own
// blocks in the memory pool, so there are few.
int64_t room_for(int64_t length, int64_t longest);

// An example in one line of the plan: "not too shabby" -> positive
std::string in_one_line(const ReadableExamples& examples, Split split, int64_t example);

}  // namespace heed
