// a + b modulo a prime, from a part of the table to the rest of it. Power et al. 2022, "Grokking",
// arXiv:2201.02177: the part that is trained on is known by heart long before the rest is right.
//   ids (B, 3): a, b, "=";  the target stands at "=", at the other places it is ignored
#pragma once

#include "train/tasks/made_task.h"
#include "train/tasks/word_tokenizer.h"

namespace heed {

class ModularAdditionTask final : public MadeTask {
 public:
  static constexpr const char* help = "a + b modulo a number, from a part of the table to the rest";

  struct Config {
    int64_t modulus = 97;
    double train_fraction = 0.5;
    void fields(Fields& f);
  };

  ModularAdditionTask(const Config& c, const TaskSetup& setup);

  std::vector<std::pair<std::string, int64_t>> model_sizes() const override {
    return {{"vocab_size", modulus_ + 1}, {"context_length", 3}};
  }
  int64_t training_tokens() const override { return trained_on_; }
  std::string description() const override;
  const Tokenizer* tokenizer() const override { return &tokenizer_; }
  void check_prompt(const std::string& prompt) const override;
  Answer answer(Module& model, const std::string& prompt,
                const AnswerOptions& options) const override;

 protected:
  Question draw(Generator& generator) const override;
  Batch batch(std::span<const Question> questions) const override;

 private:
  Question question_of(const std::string& prompt) const;

  const int64_t modulus_;
  const WordTokenizer tokenizer_;
  int64_t trained_on_ = 0;  // sums
};
HEED_TASK(ModularAdditionTask, "modular_addition");

}  // namespace heed
