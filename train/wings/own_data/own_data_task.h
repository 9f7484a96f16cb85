// Base of the tasks on users' own files. An example is two lists of tokens, what a model is given
// and what it should make of it. The base reads and keeps them, splits them, gives them in order,
// and shows them; a derived class says how they become a batch, and what a model answers.
#pragma once

#include <array>
#include <memory>

#include "train/data/windows.h"
#include "train/wings/own_data/marked_tokenizer.h"
#include "train/wings/own_data/split_rows.h"
#include "train/wings/translation/pair_format.h"

namespace heed {

class OwnDataTask : public Task, public ReadableExamples {
 public:
  int64_t example_count(Split split) const final { return static_cast<int64_t>(of(split).size()); }
  Batch examples(Split split, const std::vector<int64_t>& which) const final;
  int64_t training_tokens() const final { return training_tokens_; }
  std::string description() const final;
  std::vector<std::pair<std::string, std::string>> details() const override;
  std::vector<std::filesystem::path> files() const final { return paths_; }
  void score(const Array& output, const Batch& batch, Score& score) const override;
  const ReadableExamples* readable_examples() const final { return this; }
  std::string location(Split split, int64_t example) const final;

  const Tokenizer* tokenizer() const final { return tokenizer_.get(); }
  const Tokenizer* source_tokenizer() const final { return source_tokenizer_.get(); }
  bool continues_prompt() const override { return false; }
  // A prompt is at most as long as the longest input.
  void check_prompt(const std::string& prompt) const override;
  Answer answer(Module& model, const std::string& prompt,
                const AnswerOptions& options) const override;
  std::string input_text(Split split, int64_t example) const override;
  std::string target_text(Split split, int64_t example) const override;
  std::string answer(Module& model, Split split, int64_t example) const override;

 protected:
  explicit OwnDataTask(const OwnDataConfig& c) : config_(c) {}

  // A derived class makes its tokenizers with make_tokenizer() and then calls take(), once, in its
  // constructor.
  std::unique_ptr<const MarkedTokenizer> tokenizer_;         // of the text of an example, or of
  std::unique_ptr<const MarkedTokenizer> source_tokenizer_;  // its target, if the input has another

  // The tokenizer of the config, trained on a corpus or with the vocabulary that a checkpoint has
  // under this name. Throws TaskError.
  std::shared_ptr<const Tokenizer> make_tokenizer(const TaskSetup& setup,
                                                  std::span<const std::string_view> corpus,
                                                  const char* kept_as) const;
  // Keeps the examples that are not longer than max_length. Targets are below target_count, or
  // tokens. Throws RowError, TaskError if there are too few examples, and IoError if a file has
  // another fingerprint than that of the config.
  void take(const SplitRows& rows, const TaskSetup& setup, int64_t target_count = 0);

  struct Example {
    std::vector<int32_t> input, target;
    int64_t tokens = 0;  // that the model reads and writes
  };
  // Adds the target to an example with the tokens of the row's first cell. What it throws as a
  // ConfigError is a mistake in the row.
  virtual void complete(const TextRow& row, Example& example) const = 0;
  // The tokens of a cell. Throws ConfigError if it has none.
  static std::vector<int32_t> tokens_of(const Tokenizer& tokenizer, const std::string& cell);

  // A batch of empty examples with room for lists of these lengths, and an example in it.
  virtual Batch blank(int64_t count, const PairSizes& room) const = 0;
  virtual void fill(Batch& batch, int64_t i, std::span<const int32_t> input,
                    std::span<const int32_t> target) const = 0;
  // What the model makes of an input. Only for the answers of this class.
  virtual Answer reply(Module& model, const std::vector<int32_t>& input,
                       const AnswerOptions& options) const = 0;

  std::optional<int64_t> max_length() const { return config_.max_length; }
  const PairSizes& longest() const { return longest_; }
  std::vector<int32_t> input(Split split, int64_t example) const {
    return list(2 * number_of(split, example));
  }
  std::vector<int32_t> target(Split split, int64_t example) const {
    return list(2 * number_of(split, example) + 1);
  }

 private:
  const std::vector<int32_t>& of(Split split) const {
    return numbers_[split == Split::train ? 0 : 1];
  }
  // Its number among all examples.
  int64_t number_of(Split split, int64_t example) const {
    return of(split)[static_cast<size_t>(example)];
  }
  const MarkedTokenizer& reader() const {
    return source_tokenizer_ ? *source_tokenizer_ : *tokenizer_;
  }
  void keep(const Example& example);
  void require_enough(int64_t batch_size) const;
  bool is_too_long(const std::vector<int32_t>& list) const {
    return std::ssize(list) > config_.max_length.value_or(std::ssize(list));
  }
  int64_t length(int64_t list) const;
  std::vector<int32_t> list(int64_t at) const;
  Batch batch_of(std::span<const int64_t> numbers) const;
  std::string vocabulary_in_words() const;

  const OwnDataConfig config_;
  std::vector<std::filesystem::path> paths_;
  std::string columns_;           // which were taken
  TokenRow tokens_;               // the input of example 0, its target, the input of 1, ...
  std::vector<int64_t> ends_{0};  // list k is from ends_[k] to ends_[k + 1]
  PairSizes longest_;
  std::array<std::vector<int32_t>, 2> numbers_;  // of the examples of each split
  std::vector<int32_t> lines_;                   // of each example; one of the second file: -line
  int64_t too_long_ = 0, training_tokens_ = 0;
};

}  // namespace heed
