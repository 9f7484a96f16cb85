// Sorts a sequence of symbols. All positions are predicted at once from the whole sequence, so no
// future can leak and every kind of attention can be compared.
#pragma once

#include "train/extras/toy_tasks/made_examples.h"
#include "train/extras/toy_tasks/symbol_sequences.h"

namespace heed {

class SortTask final : public Task {
 public:
  static constexpr const char* help = "sequences of symbols, to be given back sorted";

  using Config = SymbolSequences;

  SortTask(const Config& c, const TaskSetup& setup);

  // If lengths differ, an extra symbol ends the sequence. Padding after it is masked.
  ModelSizes model_sizes() const override {
    return {{"vocab_size", tokenizer_.vocab_size()}, {"context_length", tokens()}};
  }
  std::string description() const override;
  const Tokenizer* tokenizer() const override { return &tokenizer_; }
  bool continues_prompt() const override { return false; }

  Question draw(Generator& generator) const { return sequences_.draw(generator); }
  Batch batch(std::span<const Question> questions) const;

 protected:
  std::vector<int32_t> question_of(const std::string& prompt) const override;
  Answer reply(Module& model, const std::vector<int32_t>& symbols,
               const AnswerOptions& options) const override;

 private:
  int64_t tokens() const { return sequences_.length + (sequences_.lengths_differ() ? 1 : 0); }

  const SymbolSequences sequences_;
  const WordTokenizer tokenizer_;
};
HEED_TASK(SortTask, "sort");

}  // namespace heed
