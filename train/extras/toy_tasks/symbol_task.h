// Tasks on rows of symbols in which a causal model names a symbol at some of the places.
//   ids (B, length), targets (B, length): the symbol to name, or ignored_target
//
// A task is a rule, a struct with the fields of its config that says what the sequences are:
//   static constexpr const char* help;
//   std::vector<std::string> names() const;     of the symbols, in the order of their ids
//   int64_t tokens() const;                     of a sequence
//   HeldOut held_out() const;
//   Question draw(Generator& generator) const;
//   void write(const Question& question, std::span<int32_t> ids, std::span<int32_t> targets) const;
//                                               of `tokens` each; targets are ignored_target before
//   std::string description() const;
#pragma once

#include <span>

#include "train/extras/toy_tasks/made_examples.h"
#include "train/extras/toy_tasks/word_tokenizer.h"

namespace heed {

template <class Rule>
class SymbolTask final : public Task {
 public:
  static constexpr const char* help = Rule::help;
  using Config = Rule;

  SymbolTask(const Rule& rule, const TaskSetup& setup)
      : config(rule), tokenizer_(rule.names(), /*marks=*/0) {
    data_ = std::make_unique<MadeExamples>(*this, setup.seed, rule.held_out());
  }

  ModelSizes model_sizes() const override {
    return {{"vocab_size", tokenizer_.vocab_size()}, {"context_length", config.tokens()}};
  }
  std::string description() const override { return made_as_needed(config.description(), data()); }
  const Tokenizer* tokenizer() const override { return &tokenizer_; }
  bool continues_prompt() const override { return false; }

  Question draw(Generator& generator) const { return config.draw(generator); }
  Batch batch(std::span<const Question> questions) const {
    return batch_of_rows(
        questions, config.tokens(),
        [this](const Question& question, std::span<int32_t> ids, std::span<int32_t> targets) {
          config.write(question, ids, targets);
        });
  }

  const Rule config;

 protected:
  std::vector<int32_t> question_of(const std::string& prompt) const override {
    std::vector<int32_t> symbols = tokenizer_.encode(prompt);
    require<ConfigError>(!symbols.empty() && std::ssize(symbols) <= config.tokens(),
                         "expected 1 to ", config.tokens(),
                         " symbols with blanks between them, got ", symbols.size());
    return symbols;
  }

 private:
  const WordTokenizer tokenizer_;
};

}  // namespace heed
