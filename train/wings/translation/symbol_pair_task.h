// Base of copy and reverse: one sequence of symbols is rewritten as another.
#pragma once

#include "train/tasks/symbol_sequences.h"
#include "train/wings/translation/pair_task.h"

namespace heed {

class SymbolPairTask : public PairTask {
 public:
  using Config = SymbolSequences;

  SymbolPairTask(const Config& c, const TaskSetup& setup)
      : PairTask(numbers_below(c.symbols), numbers_below(c.symbols), {c.length, c.length}),
        sequences_(c) {
    hold_out_some(setup.seed, c.held_out_count(), {},
                  [&](size_t length) { return c.most_held_out_of(length); });
  }

  void check_prompt(const std::string& prompt) const override {
    sequences_.check_length(source_tokenizer()->encode(prompt).size());
  }

 protected:
  Question draw(Generator& generator) const override { return sequences_.draw(generator); }

  const SymbolSequences sequences_;
};

}  // namespace heed
