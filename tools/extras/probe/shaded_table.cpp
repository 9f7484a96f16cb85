#include "tools/extras/probe/shaded_table.h"

#include <algorithm>
#include <cmath>

#include "layers/text/display.h"
#include "tools/terminal/table.h"

namespace heed::cli {

namespace {

constexpr int dark_text = 16, light_text = 231;  // of the 256-colour palette

// At the right end of its column.
std::string set_right(const std::string& text, size_t width) {
  return std::string(width - display_width(text), ' ') + text;
}

std::string colored(const std::string& cell, double value) {
  const int foreground = std::abs(value) <= 0.5 ? dark_text : light_text;
  return text("\x1b[48;5;", heat_color(value), ";38;5;", foreground, "m", cell, "\x1b[0m");
}

}  // namespace

std::string shaded_table(const std::vector<std::string>& rows,
                         const std::vector<std::string>& columns,
                         const std::vector<std::vector<ShadedCell>>& cells,
                         const HeatMapStyle& style) {
  std::vector<std::string> names;
  size_t margin = 0;
  for (const std::string& row : rows) {
    names.push_back(printable(row));
    margin = std::max(margin, display_width(names.back()));
  }
  const auto shown = [&](const ShadedCell& cell) {
    return printable(cell.text) + (style.color ? "" : " " + heat_cell(cell.value, false).substr(1));
  };
  std::vector<size_t> widths;
  for (size_t column = 0; column < columns.size(); ++column) {
    size_t width = display_width(columns[column]);
    for (const std::vector<ShadedCell>& row : cells) {
      width = std::max(width, column < row.size() ? display_width(shown(row[column])) : 0);
    }
    widths.push_back(width);
  }
  std::string out;
  for (size_t first = 0, end = 0; first < columns.size(); first = end) {
    // As many columns as fit, at least one; the others follow below.
    size_t width = margin;
    do {
      width += 2 + widths[end++];
    } while (end < columns.size() && width + 2 + widths[end] <= static_cast<size_t>(style.width));
    const auto add_line = [&](const std::string& name, auto&& part) {
      std::string line = padded(name, margin);
      for (size_t column = first; column < end; ++column) {
        line += "  " + part(column);
      }
      line.erase(line.find_last_not_of(' ') + 1);
      out += line + "\n";
    };
    out += first > 0 ? "\n" : "";
    add_line("", [&](size_t column) { return set_right(columns[column], widths[column]); });
    for (size_t r = 0; r < rows.size(); ++r) {
      add_line(names[r], [&](size_t column) {
        if (column >= cells[r].size()) {
          return std::string(widths[column], ' ');
        }
        const ShadedCell& cell = cells[r][column];
        const std::string words = set_right(shown(cell), widths[column]);
        return style.color ? colored(words, cell.value) : words;
      });
    }
  }
  return out;
}

}  // namespace heed::cli
