#include "tools/terminal/table.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <sstream>
#include <string_view>

#include "layers/text/display.h"
#include "layers/text/fitted.h"
#include "layers/text/utf8.h"

namespace heed::cli {

void Table::add(std::vector<std::string> row) {
  constexpr size_t most_cell_bytes = 2000;
  for (std::string& cell : row) {
    cell = printable(cell, most_cell_bytes);
  }
  rows_.push_back(std::move(row));
}

std::string Table::text(const std::string& indent) const {
  std::vector<size_t> widths(columns_.size(), 0);
  for (const std::vector<std::string>& row : rows_) {
    for (size_t k = 0; k < row.size(); ++k) {
      widths[k] = std::max(widths[k], display_width(row[k]));
    }
  }
  std::string out;
  for (const std::vector<std::string>& row : rows_) {
    std::string line = indent;
    for (size_t k = 0; k < row.size(); ++k) {
      const std::string blanks(widths[k] - display_width(row[k]), ' ');
      line += (k > 0 ? "  " : "");
      line += columns_[k] == Align::right ? blanks + row[k] : row[k] + blanks;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string padded(const std::string& text, size_t width) {
  return text + std::string(width - std::min(width, display_width(text)), ' ');
}

std::string shortened(const std::string& text, size_t width) {
  if (display_width(text) <= width) {
    return text;
  }
  size_t end = 0;
  for (size_t columns = 3; end < text.size();) {  // of the dots
    const size_t size = std::max<size_t>(1, utf8_at(text, end).size);
    columns += display_width(std::string_view(text).substr(end, size));
    if (columns > width) {
      break;
    }
    end += size;
  }
  return text.substr(0, end) + "...";
}

void print_line(std::FILE* to, std::string_view line, const char* style) {
  std::istringstream lines(printable_lines(line));
  for (std::string one; std::getline(lines, one);) {
    const auto width = one.starts_with("  ") ? std::nullopt : terminal_width(fileno(to));
    std::fprintf(to, "%s\n", styled(fitted(one, width), style, fileno(to)).c_str());
  }
}

void print_lines(std::FILE* to, const std::vector<std::string>& lines) {
  for (const std::string& line : lines) print_line(to, line);
}

void print_text(std::string_view text) {
  const std::string shown = fitted(printable_lines(text), terminal_width(STDOUT_FILENO));
  std::fputs(shown.c_str(), stdout);
}

}  // namespace heed::cli
