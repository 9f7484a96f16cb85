// A sequence of symbols in, the same out: attention that goes from place to place, the diagonal.
#pragma once

#include "train/tasks/symbol_pair_task.h"

namespace heed {

class CopyTask final : public SymbolPairTask {
 public:
  static constexpr const char* help = "sequences of symbols, to be given back as they are";
  using SymbolPairTask::SymbolPairTask;

  Pair pair(const Question& question) const override { return {question, question}; }
  std::string description() const override { return "copy: " + described(); }
};
HEED_TASK(CopyTask, "copy");

}  // namespace heed
