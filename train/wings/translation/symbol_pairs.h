// What copy and reverse share: one sequence of symbols is rewritten as another.
#pragma once

#include "train/wings/made/symbol_sequences.h"
#include "train/wings/translation/pair_task.h"

namespace heed {

struct SymbolPairs : SymbolSequences {
  std::vector<std::string> source_words() const { return numbers_below(symbols); }
  std::vector<std::string> target_words() const { return numbers_below(symbols); }
  PairSizes longest() const { return {length, length}; }
  std::string as_text(std::string written) const { return written; }
};

}  // namespace heed
