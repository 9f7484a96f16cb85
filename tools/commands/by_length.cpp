#include "tools/commands/by_length.h"

#include "layers/text/formatted.h"
#include "tools/terminal/table.h"

namespace heed::cli {

double share_exact(const Score::Sequences& of) {
  return static_cast<double>(of.exact) / static_cast<double>(of.all);
}

std::string by_length_text(const SequencesByLength& by_length) {
  if (by_length.size() < 2) {
    return "";
  }
  Table table({Align::right, Align::right, Align::right});
  table.add({"targets", "sequences", "wholly right"});
  for (const auto& [length, sequences] : by_length) {
    table.add({std::to_string(length), std::to_string(sequences.all),
               formatted("%.2f%%", 100 * share_exact(sequences))});
  }
  return table.text();
}

}  // namespace heed::cli
