// a + b modulo a prime, trained on part of the addition table and tested on the rest. Power et al.
// 2022, "Grokking", arXiv:2201.02177: the model memorises the training part long before it
// generalises.
//   ids (B, 3): a, b, "=".  The target is at "="; the other positions are ignored.
#pragma once

#include "train/extras/toy_tasks/made_examples.h"
#include "train/extras/toy_tasks/word_tokenizer.h"

namespace heed {

class ModularAdditionTask final : public Task {
 public:
  static constexpr const char* help = "a + b modulo a number, from a part of the table to the rest";

  struct Config {
    int64_t modulus = 97;
    double train_fraction = 0.5;
    void fields(Fields& f);
  };

  ModularAdditionTask(const Config& c, const TaskSetup& setup);

  ModelSizes model_sizes() const override {
    return {{"vocab_size", modulus_ + 1}, {"context_length", 3}};
  }
  std::string description() const override;
  const Tokenizer* tokenizer() const override { return &tokenizer_; }
  bool continues_prompt() const override { return false; }

  Question draw(Generator& generator) const;
  Batch batch(std::span<const Question> questions) const;

 protected:
  // The tokens of "12 85", "12 + 85" or "12 + 85 =", with "=" behind them.
  std::vector<int32_t> question_of(const std::string& prompt) const override;

 private:
  const int64_t modulus_;
  const WordTokenizer tokenizer_;
  std::vector<Question> few_;  // the sums trained on, if they are too few to be found by trying
};
HEED_TASK(ModularAdditionTask, "modular_addition");

}  // namespace heed
