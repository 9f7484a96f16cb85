// Base of the tasks on users' own files: what the plan says of them, examples as people read them,
// prompts. A derived class makes its examples (ExampleMaker) and says what a model answers.
#pragma once

#include <memory>

#include "tools/extras/own_data/train/own_examples.h"
#include "train/tokenizers/marked_tokenizer.h"

namespace heed {

class OwnDataTask : public Task, public ReadableExamples, public ExampleMaker {
 public:
  std::string description() const final;
  std::vector<std::pair<std::string, std::string>> details() const override;
  Ids loss_targets(const Batch& batch) const override { return batch.targets; }

  const Tokenizer* tokenizer() const final { return tokenizer_.get(); }
  const Tokenizer* source_tokenizer() const final { return source_tokenizer_.get(); }
  bool continues_prompt() const override { return false; }
  using Task::answer;  // which that of ReadableExamples would hide

  const ReadableExamples* readable_examples() const final { return this; }
  std::string location(Split split, int64_t example) const final;
  std::string input_text(Split split, int64_t example) const override;
  std::string target_text(Split split, int64_t example) const override;
  std::string answer(Module& model, Split split, int64_t example) const override;

 protected:
  explicit OwnDataTask(const OwnDataConfig& c) : config_(c) {}

  // A derived class makes its tokenizers with make_tokenizer() and then calls take(), once, in its
  // constructor, with the examples of the rows.
  std::unique_ptr<const MarkedTokenizer> tokenizer_;         // of the text of an example, or of
  std::unique_ptr<const MarkedTokenizer> source_tokenizer_;  // its target, if the input has another

  // The tokenizer of the config, trained on a corpus or with the vocabulary that a checkpoint has
  // under this name. Throws TaskError.
  std::shared_ptr<const Tokenizer> make_tokenizer(const TaskSetup& setup,
                                                  std::span<const std::string_view> corpus,
                                                  const char* kept_as) const;
  void take(const SplitRows& rows, std::unique_ptr<OwnExamples> examples);

  // The tokens of a prompt, which is at most as long as the longest input.
  std::vector<int32_t> question_of(const std::string& prompt) const override;

  const OwnExamples& examples() const { return *examples_; }
  std::optional<int64_t> max_length() const { return config_.max_length; }

 private:
  const MarkedTokenizer& reader() const {
    return source_tokenizer_ ? *source_tokenizer_ : *tokenizer_;
  }
  std::string vocabulary_in_words() const;

  const OwnDataConfig config_;
  const OwnExamples* examples_ = nullptr;  // data_
  std::string columns_;                    // which were taken
};

}  // namespace heed
