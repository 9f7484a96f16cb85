#include "train/wings/own_data/rows/row_mistakes.h"

namespace heed {

void RowMistakes::throw_if_any() const {
  if (count_ == 0) {
    return;
  }
  std::string lines;
  for (const std::string& line : shown_) {
    lines += (lines.empty() ? "" : "\n") + line;
  }
  if (count_ > most_shown) {
    lines +=
        text("\n", file_, ": ", count_, " mistakes in all; the first ", most_shown, " are above");
  }
  throw RowError(lines);
}

}  // namespace heed
