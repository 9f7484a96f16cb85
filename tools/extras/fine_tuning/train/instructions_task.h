// A user's own instructions and the answers to them, as in chapter 7 of the book.
//   {type: instructions, path: x.json, template: alpaca, tokenizer: {type: bpe, path: ...}}
// A batch has, padded to its longest sequence:
//   ids (B, T)      the instruction in the template and its answer, then padding (hidden by mask)
//   targets (B, T)  the answer and the end token, each where the token before it is; elsewhere
//                   ignored_target
#pragma once

#include "tools/extras/fine_tuning/train/prompt_template.h"
#include "tools/extras/own_data/train/own_data_task.h"

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

  // Throws what SplitRows and OwnExamples do. An answer with the end token in it is a mistake
  // of the file.
  InstructionsTask(const Config& c, const TaskSetup& setup);

  std::vector<std::pair<std::string, int64_t>> model_sizes() const override;
  std::vector<std::pair<std::string, std::string>> details() const override;
  // With loss_on: all, the targets are all tokens after the first; scores stay those of answers.
  Ids loss_targets(const Batch& batch) const override;
  BatchLoss loss(const Tensor& output, const Batch& batch) const override;
  Answer answer(Module& model, const std::string& prompt,
                const AnswerOptions& options) const override {
    return reply(model, question_of(prompt), options);
  }
  std::string input_text(Split split, int64_t example) const override;
  std::string answer(Module& model, Split split, int64_t example) const override;

  // What a user asks (read_prompt()), in the template. Throws ConfigError for what is empty or
  // longer than the model's context.
  std::vector<int32_t> question_of(const std::string& prompt) const override;
  std::optional<int32_t> end_token() const override { return end_; }
  const PromptTemplate& form() const { return form_; }
  int64_t longest_answer() const { return examples().longest().target; }

  // ExampleMaker. An input is the prompt and the answer, a target the answer.
  OwnExample example(const TextRow& row) const override;
  Batch blank(int64_t count, const PairSizes& room) const override;
  void fill(Batch& batch, int64_t i, std::span<const int32_t> whole,
            std::span<const int32_t> answer) const override;

 protected:
  Answer reply(Module& model, const std::vector<int32_t>& prompt,
               const AnswerOptions& options) const override;

 private:
  void make_tokenizer_with_end(const TaskSetup& setup, const SplitRows& rows);
  int64_t context_length() const { return max_length().value_or(examples().longest().source); }
  std::vector<int32_t> prompt_of(Split split, int64_t example) const;

  const Config config_;
  const PromptTemplate form_;
  int32_t end_ = 0;
};
HEED_TASK(InstructionsTask, "instructions");

}  // namespace heed
