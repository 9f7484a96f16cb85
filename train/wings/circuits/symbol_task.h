// Tasks on sequences of symbols in which a causal model names a symbol at some of the places. The
// base of tasks that small models solve by circuits that can be found in their attention.
//   ids (B, length), targets (B, length): the symbol to name, or ignored_target
#pragma once

#include <span>

#include "train/tasks/made_task.h"
#include "train/tasks/word_tokenizer.h"

namespace heed {

class SymbolTask : public MadeTask {
 public:
  std::vector<std::pair<std::string, int64_t>> model_sizes() const override {
    return {{"vocab_size", tokenizer_.vocab_size()}, {"context_length", length_}};
  }
  const Tokenizer* tokenizer() const override { return &tokenizer_; }
  // Takes 1 to `length` symbols with blanks between them.
  void check_prompt(const std::string& prompt) const override;
  // The likeliest symbol at the last place of the prompt.
  Answer answer(Module& model, const std::string& prompt,
                const AnswerOptions& options) const override;

 protected:
  // `names` of the symbols, in the order of their ids; sequences have `length` of them.
  SymbolTask(std::vector<std::string> names, int64_t length);

  // Writes ids and targets of a question, `length` each. The targets are ignored_target before.
  virtual void write(const Question& question, std::span<int32_t> ids,
                     std::span<int32_t> targets) const = 0;

  Batch batch(std::span<const Question> questions) const override;

 private:
  const WordTokenizer tokenizer_;
  const int64_t length_;
};

// n (n - 1) ... (n - k + 1), the number of ways to draw k of n things in order.
double arrangements(int64_t n, int64_t k);
// `count` distinct numbers in [0, n), in random order: the first steps of a Fisher-Yates shuffle.
std::vector<int32_t> draw_distinct(Generator& generator, int64_t n, int64_t count);

}  // namespace heed
