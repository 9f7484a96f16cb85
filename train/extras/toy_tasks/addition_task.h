// Sums of two numbers, digit by digit, for a model that goes on from tokens. Lee et al. 2023,
// "Teaching arithmetic to small transformers", arXiv:2307.03381: written from the last digit on, as
// one adds by hand, each digit needs only its own column and the carry.
//   ids (B, 3 n + 2): n digits of a, "+", n digits of b, "=", and the sum but for its last digit
//   targets: behind "=" the n + 1 digits of the sum; the other places are ignored
//   digits 2, a = 7, b = 95:   0 7 + 9 5 =   and then 2 0 1 (reverse), or 1 0 2
#pragma once

#include "train/extras/toy_tasks/made_examples.h"
#include "train/extras/toy_tasks/word_tokenizer.h"

namespace heed {

class AdditionTask final : public Task {
 public:
  static constexpr const char* help = "sums of two numbers, digit by digit";

  struct Config {
    int64_t digits = 3;
    bool reverse = true;
    void fields(Fields& f);
  };

  AdditionTask(const Config& c, const TaskSetup& setup);

  ModelSizes model_sizes() const override {
    return {{"vocab_size", tokenizer_.vocab_size()}, {"context_length", 3 * digits_ + 2}};
  }
  std::string description() const override;
  const Tokenizer* tokenizer() const override { return &tokenizer_; }
  bool continues_prompt() const override { return false; }

  // a and b.
  Question draw(Generator& generator) const;
  Batch batch(std::span<const Question> questions) const;

 protected:
  // a and b of "12 + 85", with or without blanks and "=".
  std::vector<int32_t> question_of(const std::string& prompt) const override;
  // The sum as one writes it, whatever the order of its digits: "97".
  Answer reply(Module& model, const std::vector<int32_t>& numbers,
               const AnswerOptions& options) const override;

 private:
  // Writes `count` digits of a number to `ids`; in reverse the last one first.
  static void write(int64_t number, int64_t count, bool in_reverse, int32_t* ids);

  const int64_t digits_;
  const bool reverse_;
  const WordTokenizer tokenizer_;
};
HEED_TASK(AdditionTask, "addition");

}  // namespace heed
