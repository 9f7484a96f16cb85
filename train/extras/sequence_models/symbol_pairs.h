// A sequence of symbols is rewritten as another: as it is, or backwards.
#pragma once

#include "train/extras/sequence_models/pair_task.h"
#include "train/extras/toy_tasks/symbol_sequences.h"

namespace heed {

struct SymbolPairs : SymbolSequences {
  std::vector<std::string> source_words() const { return numbers_below(symbols); }
  std::vector<std::string> target_words() const { return numbers_below(symbols); }
  PairSizes longest() const { return {length, length}; }
  std::string as_text(std::string written) const { return written; }
};

// Copies a sequence of symbols. Attention has to move along the diagonal.
struct Copy : SymbolPairs {
  static constexpr const char* help = "sequences of symbols, to be given back as they are";

  SequencePair pair(const Question& question, const PairWords&) const {
    return {question, question};
  }
  std::string description() const { return "copy: " + SymbolSequences::description(); }
};
using CopyTask = PairTask<Copy>;
HEED_TASK(CopyTask, "copy");

// Reverses a sequence of symbols. Attention has to move along the anti-diagonal, starting wherever
// the sequence ends.
struct Reverse : SymbolPairs {
  static constexpr const char* help = "sequences of symbols, to be given back from the end on";

  SequencePair pair(const Question& question, const PairWords&) const {
    return {question, {question.rbegin(), question.rend()}};
  }
  std::string description() const { return "reverse: " + SymbolSequences::description(); }
};
using ReverseTask = PairTask<Reverse>;
HEED_TASK(ReverseTask, "reverse");

}  // namespace heed
