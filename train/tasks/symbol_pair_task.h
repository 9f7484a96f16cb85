// Base of copy and reverse: one sequence of symbols is rewritten as another.
#pragma once

#include "train/files/words.h"
#include "train/tasks/pair_task.h"
#include "train/tasks/symbol_sequences.h"

namespace heed {

class SymbolPairTask : public PairTask {
 public:
  using Config = SymbolSequences;

  SymbolPairTask(const Config& c, const TaskSetup& setup)
      : PairTask(c.names(), c.names(), {c.length, c.length}), sequences_(c) {
    hold_out_some(setup.seed, c.held_out_count(), {},
                  [&](size_t length) { return c.most_held_out_of(length); });
  }

  void check_prompt(const std::string& prompt) const override {
    sequences_.check_length(source_tokenizer()->encode(prompt).size());
  }

 protected:
  Question draw(Generator& generator) const override { return sequences_.draw(generator); }
  std::string described() const {
    return text(sequences_.description(), ", made as they are needed; ",
                grouped(example_count(Split::validation)), " held out");
  }

 private:
  const SymbolSequences sequences_;
};

}  // namespace heed
