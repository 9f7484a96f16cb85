// Copies a sequence of symbols. Attention has to move along the diagonal.
#pragma once

#include "train/wings/translation/symbol_pairs.h"

namespace heed {

struct Copy : SymbolPairs {
  static constexpr const char* help = "sequences of symbols, to be given back as they are";

  SequencePair pair(const MadeTask::Question& question, const PairWords&) const {
    return {question, question};
  }
  std::string description() const { return "copy: " + SymbolSequences::description(); }
};
using CopyTask = PairTask<Copy>;
HEED_TASK(CopyTask, "copy");

}  // namespace heed
