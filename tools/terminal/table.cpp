#include "tools/terminal/table.h"

#include <algorithm>
#include <cstdio>

namespace heed::cli {

namespace {

// The number of characters in UTF-8 text.
size_t width_of(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

}  // namespace

std::string Table::text(const std::string& indent) const {
  std::vector<size_t> widths(columns_.size(), 0);
  for (const std::vector<std::string>& row : rows_) {
    for (size_t k = 0; k < row.size(); ++k) {
      widths[k] = std::max(widths[k], width_of(row[k]));
    }
  }
  std::string out;
  for (const std::vector<std::string>& row : rows_) {
    std::string line = indent;
    for (size_t k = 0; k < row.size(); ++k) {
      const std::string blanks(widths[k] - width_of(row[k]), ' ');
      line += (k > 0 ? "  " : "");
      line += columns_[k] == Align::right ? blanks + row[k] : row[k] + blanks;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string shortened(const std::string& text, size_t width) {
  if (width_of(text) <= width) {
    return text;
  }
  size_t end = 0;
  for (size_t characters = 0; end < text.size(); ++end) {
    const bool begins = (static_cast<unsigned char>(text[end]) & 0xC0U) != 0x80U;
    if (begins && ++characters > width - 3) {
      break;
    }
  }
  return text.substr(0, end) + "...";
}

std::string scientific(double number) {
  char out[32];
  std::snprintf(out, sizeof out, "%.1e", number);
  return out;
}

}  // namespace heed::cli
