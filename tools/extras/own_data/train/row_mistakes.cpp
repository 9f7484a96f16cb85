#include "tools/extras/own_data/train/row_mistakes.h"

#include <algorithm>

#include "layers/text/display.h"

namespace heed {

void RowMistakes::throw_if_any() const {
  if (count_ == 0) return;
  std::string lines;
  for (const std::string& line : shown_) lines += (lines.empty() ? "" : "\n") + line;
  if (count_ > most_shown) {
    lines +=
        text("\n", file_, ": ", count_, " mistakes in all; the first ", most_shown, " are above");
  }
  throw RowError(lines);
}

std::string listed(const std::vector<std::string>& names, size_t most) {
  std::string list;
  for (size_t i = 0; i < std::min(names.size(), most); ++i) {
    list += (list.empty() ? "" : ", ") + printable(names[i]);
  }
  return list + (names.size() > most ? ", ..." : "");
}

}  // namespace heed
