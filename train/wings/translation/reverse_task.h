// Reverses a sequence of symbols. Attention has to move along the anti-diagonal, starting wherever
// the sequence ends.
#pragma once

#include "train/wings/translation/symbol_pairs.h"

namespace heed {

struct Reverse : SymbolPairs {
  static constexpr const char* help = "sequences of symbols, to be given back from the end on";

  SequencePair pair(const MadeTask::Question& question, const PairWords&) const {
    return {question, {question.rbegin(), question.rend()}};
  }
  std::string description() const { return "reverse: " + SymbolSequences::description(); }
};
using ReverseTask = PairTask<Reverse>;
HEED_TASK(ReverseTask, "reverse");

}  // namespace heed
