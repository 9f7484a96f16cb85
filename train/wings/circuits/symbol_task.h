// Tasks on sequences of symbols in which a causal model names a symbol at some of the places:
// tasks that small models solve by circuits that can be found in their attention.
//   ids (B, length), targets (B, length): the symbol to name, or ignored_target
//
// A task is a rule, a struct with the fields of its config that says what the sequences are:
//   static constexpr const char* help;
//   std::vector<std::string> names() const;     of the symbols, in the order of their ids
//   int64_t tokens() const;                     of a sequence
//   MadeTask::HeldOut held_out() const;
//   Question draw(Generator& generator) const;
//   void write(const Question& question, std::span<int32_t> ids, std::span<int32_t> targets) const;
//                                               of `tokens` each; targets are ignored_target before
//   std::string description() const;
#pragma once

#include <span>

#include "autograd/base/modes.h"
#include "train/wings/made/made_task.h"
#include "train/wings/made/word_tokenizer.h"

namespace heed {

// The symbols as words, and what a model makes of a sequence of them.
class SymbolText {
 public:
  SymbolText(std::vector<std::string> names, int64_t length)
      : tokenizer_(std::move(names), /*marks=*/0), length_(length) {}

  std::vector<std::pair<std::string, int64_t>> model_sizes() const {
    return {{"vocab_size", tokenizer_.vocab_size()}, {"context_length", length_}};
  }
  const Tokenizer& tokenizer() const { return tokenizer_; }
  // Takes 1 to `length` symbols with blanks between them.
  void check_prompt(const std::string& prompt) const;
  // The likeliest symbol at the last place of the prompt.
  Answer answer(Module& model, const std::string& prompt, const AnswerOptions& options) const;

  // A batch of ids 0, without targets, and a row of either.
  Batch blank(int64_t count) const;
  std::span<int32_t> row(Ids& of, size_t i) const;

 private:
  const WordTokenizer tokenizer_;
  const int64_t length_;
};

template <class Rule>
class SymbolTask final : public MadeTask {
 public:
  static constexpr const char* help = Rule::help;
  using Config = Rule;

  SymbolTask(const Rule& rule, const TaskSetup& setup)
      : config(rule), text_(rule.names(), rule.tokens()) {
    hold_out_some(setup.seed, rule.held_out());
  }

  std::vector<std::pair<std::string, int64_t>> model_sizes() const override {
    return text_.model_sizes();
  }
  std::string description() const override { return described(config.description()); }
  const Tokenizer* tokenizer() const override { return &text_.tokenizer(); }
  void check_prompt(const std::string& prompt) const override { text_.check_prompt(prompt); }
  Answer answer(Module& model, const std::string& prompt,
                const AnswerOptions& options) const override {
    return text_.answer(model, prompt, options);
  }

  const Rule config;

 protected:
  Question draw(Generator& generator) const override { return config.draw(generator); }
  Batch batch(std::span<const Question> questions) const override {
    Batch batch = text_.blank(std::ssize(questions));
    for (size_t i = 0; i < questions.size() && !dry_run(); ++i) {
      config.write(questions[i], text_.row(batch.input.ids, i), text_.row(batch.targets, i));
    }
    return batch;
  }

 private:
  const SymbolText text_;
};

// n (n - 1) ... (n - k + 1), the number of ways to draw k of n things in order.
double arrangements(int64_t n, int64_t k);
// `count` distinct numbers in [0, n), in random order: the first steps of a Fisher-Yates shuffle.
std::vector<int32_t> draw_distinct(Generator& generator, int64_t n, int64_t count);

}  // namespace heed
