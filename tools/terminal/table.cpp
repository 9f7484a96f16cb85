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

template <class... Numbers>
std::string printed(const char* format, Numbers... numbers) {
  char out[64];
  std::snprintf(out, sizeof out, format, numbers...);
  return out;
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

std::string bytes_text(int64_t bytes) {
  const auto b = static_cast<double>(bytes);
  if (b >= 1e9) {
    return printed(b < 1e11 ? "%.2f GB" : "%.0f GB", b / 1e9);
  }
  return printed(b < 1e8 ? "%.1f MB" : "%.0f MB", b / 1e6);
}

std::string short_number(double number) {
  const struct {
    double unit;
    const char* name;
  } units[] = {{1e12, " T"}, {1e9, " G"}, {1e6, " M"}, {1e3, " k"}};
  for (const auto& [unit, name] : units) {
    if (number >= unit) {
      return printed("%.3g", number / unit) + name;
    }
  }
  return printed("%.3g", number);
}

std::string scientific(double number) { return printed("%.1e", number); }

}  // namespace heed::cli
