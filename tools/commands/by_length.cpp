#include "tools/commands/by_length.h"

#include <cstdio>

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
    char right[16];
    std::snprintf(right, sizeof right, "%.2f%%", 100 * share_exact(sequences));
    table.add({std::to_string(length), std::to_string(sequences.all), right});
  }
  return table.text();
}

}  // namespace heed::cli
