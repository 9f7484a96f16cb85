// Reverses a sequence of symbols. Attention has to move along the anti-diagonal, starting wherever
// the sequence ends.
#pragma once

#include "train/wings/translation/symbol_pair_task.h"

namespace heed {

class ReverseTask final : public SymbolPairTask {
 public:
  static constexpr const char* help = "sequences of symbols, to be given back from the end on";
  using SymbolPairTask::SymbolPairTask;

  Pair pair(const Question& question) const override {
    return {question, {question.rbegin(), question.rend()}};
  }
  std::string description() const override {
    return described("reverse: " + sequences_.description());
  }
};
HEED_TASK(ReverseTask, "reverse");

}  // namespace heed
