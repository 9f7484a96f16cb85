// A user's own instructions and the answers to them, as in chapter 7 of the book.
//   {type: instructions, path: x.json, template: alpaca, tokenizer: {type: bpe, path: ...}}
// A batch has, padded to its longest sequence:
//   ids (B, T)      the instruction in the template and its answer, then padding (hidden by mask)
//   targets (B, T)  the answer and the end token, each where the token before it is; elsewhere
//                   ignored_target
#pragma once

#include "train/wings/fine_tuning/prompt_template.h"
#include "train/wings/own_data/marked_tokenizer.h"
#include "train/wings/own_data/own_data_task.h"
#include "train/wings/own_data/token_lists.h"

namespace heed {

class InstructionsTask final : public OwnDataTask {
 public:
  static constexpr const char* help = "answers to instructions, from a file of yours";

  struct Config {
    OwnDataConfig file;
    std::string form = "alpaca", without_input, end_token, loss_on = "answer";
    void fields(Fields& f);
    void check(ConfigErrors& errors, const ConfigNode& at) const;
  };

  // Throws what SplitRows and OwnDataTask::take do. An answer with the end token in it is a mistake
  // of the file.
  InstructionsTask(const Config& c, const TaskSetup& setup)
      : InstructionsTask(c, setup, PromptTemplate(c.form, c.without_input)) {}

  std::vector<std::pair<std::string, int64_t>> model_sizes() const override;
  const Tokenizer* tokenizer() const override { return tokenizer_.get(); }
  std::vector<std::pair<std::string, std::string>> details() const override;
  // With loss_on: all, the targets are all tokens after the first; scores stay those of answers.
  BatchLoss loss(const Tensor& output, const Batch& batch) const override;
  void check_prompt(const std::string& prompt) const override { prompt_ids(prompt); }
  Answer answer(Module& model, const std::string& prompt,
                const AnswerOptions& options) const override;

  std::string input_text(Split split, int64_t example) const override;
  std::string target_text(Split split, int64_t example) const override;
  std::string answer(Module& model, Split split, int64_t example) const override;

  // What a user asks (read_prompt()), in the template. Throws ConfigError for what is empty or
  // longer than the model's context.
  std::vector<int32_t> prompt_ids(const std::string& prompt) const;
  int32_t end_token() const { return end_; }
  int64_t longest_answer() const { return longest_answer_; }

 protected:
  Batch batch_of(std::span<const int64_t> numbers) const override;
  std::string vocabulary_in_words() const override;

 private:
  InstructionsTask(const Config& c, const TaskSetup& setup, const PromptTemplate& form);
  InstructionsTask(const Config& c, const TaskSetup& setup, const PromptTemplate& form,
                   const SplitRows& rows);
  void make_tokenizer_with_end(const TaskSetup& setup, const SplitRows& rows);
  int64_t add(const TextRows::Row& row);
  int64_t context_length() const { return max_length().value_or(texts_->longest()); }
  std::vector<int32_t> prompt_of(int64_t number) const;
  std::vector<int32_t> answer_of(int64_t number) const;

  const Config config_;
  const PromptTemplate form_;
  std::unique_ptr<const MarkedTokenizer> tokenizer_;
  int32_t end_ = 0;
  std::optional<TokenLists> texts_;      // prompt and answer
  std::vector<int32_t> prompt_lengths_;  // of each text
  int64_t longest_answer_ = 0;
};
HEED_TASK(InstructionsTask, "instructions");

}  // namespace heed
