// Copies a sequence of symbols. Attention has to move along the diagonal.
#pragma once

#include "train/wings/translation/symbol_pair_task.h"

namespace heed {

class CopyTask final : public SymbolPairTask {
 public:
  static constexpr const char* help = "sequences of symbols, to be given back as they are";
  using SymbolPairTask::SymbolPairTask;

  Pair pair(const Question& question) const override { return {question, question}; }
  std::string description() const override {
    return described("copy: " + sequences_.description());
  }
};
HEED_TASK(CopyTask, "copy");

}  // namespace heed
