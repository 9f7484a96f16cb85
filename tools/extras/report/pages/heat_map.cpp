#include "tools/extras/report/pages/heat_map.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "layers/text/display.h"
#include "layers/text/fitted.h"
#include "layers/text/utf8.h"
#include "tools/terminal/table.h"

namespace heed::cli {

namespace {

constexpr size_t longest_shown = 14;
constexpr size_t cell_width = 2;
constexpr int64_t gap = 3;  // blanks between heads

constexpr std::string_view shades = " .:-=+*#%@";
// From paper to ink, as on pages, in the 256-colour palette; below 0 from paper to red.
constexpr std::array<int, 11> ink_shades{255, 253, 251, 249, 247, 245, 242, 239, 237, 235, 232};
constexpr std::array<int, 11> red_shades{255, 224, 224, 217, 217, 210, 203, 167, 160, 124, 88};

// A key that comes after the query: hatched.
std::string hidden_cell(bool color) { return color ? "\x1b[38;5;245m╱╱\x1b[0m" : "╱╱"; }

// Two weights in one line, one above the other: the upper half of a letter, and what is behind it.
// Either may be missing.
std::string two_cells(std::optional<double> upper, std::optional<double> lower) {
  return !upper && !lower ? hidden_cell(true)
         : !upper         ? text("\x1b[38;5;", heat_color(*lower), "m▄▄\x1b[0m")
                          : text("\x1b[38;5;", heat_color(*upper),
                         lower ? text(";48;5;", heat_color(*lower)) : "", "m▀▀\x1b[0m");
}

// The characters of a name, each with the marks that combine with it.
std::vector<std::string> letters_of(const std::string& name) {
  std::vector<std::string> letters;
  for (size_t at = 0; at < name.size();) {
    const size_t size = std::max<size_t>(1, utf8_at(name, at).size);
    const std::string letter = name.substr(at, size);
    if (!letters.empty() && display_width(letter) == 0) {
      letters.back() += letter;
    } else {
      letters.push_back(letter);
    }
    at += size;
  }
  return letters;
}

std::vector<std::string> shortened_names(const std::vector<std::string>& names) {
  std::vector<std::string> out;
  for (const std::string& name : names) {
    out.push_back(shortened(name, longest_shown));
  }
  return out;
}

// Rows; a taller map has the keys' names below it too, and, in colour, two rows a line.
constexpr int64_t tall = 20;

// The keys' names as vertical text, one line per letter, to be set above or below their columns.
std::vector<std::string> column_names(const std::vector<std::string>& keys, bool above) {
  std::vector<std::vector<std::string>> names;
  size_t height = 0;
  for (const std::string& key : keys) {
    names.push_back(letters_of(key));
    height = std::max(height, names.back().size());
  }
  std::vector<std::string> lines(height);
  for (const std::vector<std::string>& letters : names) {
    for (size_t line = 0; line < height; ++line) {
      const size_t blanks = above ? height - letters.size() : 0;
      const bool there = line >= blanks && line - blanks < letters.size();
      lines[line] += padded(there ? letters[line - blanks] : "", cell_width);
    }
  }
  return lines;
}

void add_line(std::string& out, std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  out += line + "\n";
}

}  // namespace

std::string heat_cell(double weight, bool color) {
  const double w = std::clamp(weight, -1.0, 1.0);
  if (color) {
    return text("\x1b[48;5;", heat_color(w), "m  \x1b[0m");
  }
  const auto index = static_cast<size_t>(std::lround(std::abs(w) * (shades.size() - 1)));
  return std::string(cell_width, shades[index]);
}

int heat_color(double value) {
  const double v = std::clamp(value, -1.0, 1.0);
  return (
      v < 0 ? red_shades
            : ink_shades)[static_cast<size_t>(std::lround(std::abs(v) * (ink_shades.size() - 1)))];
}

HeatMapStyle style_of_terminal() {
  HeatMapStyle style;
  if (isatty(STDOUT_FILENO) == 0) {
    return style;
  }
  style.color = has_color(STDOUT_FILENO);
  const auto usual = static_cast<size_t>(style.width);
  style.width = static_cast<int64_t>(terminal_width(STDOUT_FILENO).value_or(usual));
  return style;
}

std::string heat_map_text(const AttentionMap& map, const HeatMapStyle& style,
                          std::optional<int64_t> head) {
  const int64_t rows = map.weights.dim(1), columns = map.weights.dim(2);
  const int64_t begin = head.value_or(0), heads = head ? *head + 1 : map.weights.dim(0);
  const bool halves = style.color && rows > tall, causal = is_causal(map);
  std::vector<std::string> queries = shortened_names(map.queries);
  for (size_t t = 0; halves && t + 1 < queries.size(); t += 2) {
    queries[t] += " " + queries[t + 1];
  }
  const std::vector<std::string> keys = shortened_names(map.keys);
  const std::vector<std::string> above = column_names(keys, true);
  const std::vector<std::string> below =
      rows > tall ? column_names(keys, false) : std::vector<std::string>();
  size_t margin = 0;
  for (const std::string& query : queries) {
    margin = std::max(margin, display_width(query) + 1);
  }
  const int64_t field = std::max<int64_t>(2 * columns, 7);  // at least as wide as "head 12"
  const int64_t room = style.width - static_cast<int64_t>(margin) + gap;
  const int64_t beside = std::clamp<int64_t>(room / (field + gap), 1, heads - begin);

  std::string out =
      (map.path.empty() ? "the model" : map.path) +
      (map.cross ? ": rows are written, columns were read\n" : ": rows look at columns\n") +
      (halves ? "a line has two rows, in the upper and the lower half of its cells\n" : "");
  for (int64_t first = begin; first < heads; first += beside) {
    const int64_t end = std::min(heads, first + beside);
    // One line of output: `name`, then part(h) of every head in this band, side by side.
    const auto band = [&](const std::string& name, auto&& part) {
      std::string line = padded(name, margin);
      for (int64_t h = first; h < end; ++h) {
        line += part(h);
        line += std::string(static_cast<size_t>(h + 1 < end ? gap : 0), ' ');
      }
      add_line(out, std::move(line));
    };
    const auto wide = static_cast<size_t>(field);
    band("", [&](int64_t h) { return padded(text("head ", h), wide); });
    for (const std::string& names : above) {
      band("", [&](int64_t) { return padded(names, wide); });
    }
    for (int64_t t = 0; t < rows; t += halves ? 2 : 1) {
      band(queries[static_cast<size_t>(t)], [&](int64_t h) {
        std::string cells;
        for (int64_t s = 0; s < columns; ++s) {
          const auto weight = [&](int64_t row) -> std::optional<double> {
            if (row >= rows || (causal && s > row)) return {};
            return map.row(h, row)[static_cast<size_t>(s)];
          };
          cells += halves      ? two_cells(weight(t), weight(t + 1))
                   : weight(t) ? heat_cell(*weight(t), style.color)
                               : hidden_cell(style.color);
        }
        return cells + std::string(static_cast<size_t>(field - 2 * columns), ' ');
      });
    }
    for (const std::string& names : below) {
      band("", [&](int64_t) { return padded(names, wide); });
    }
  }
  return out;
}

bool is_causal(const AttentionMap& map) {
  const int64_t rows = map.weights.dim(1);
  bool hidden = rows > 1 && rows == map.weights.dim(2) && !map.cross;
  for (int64_t row = 0; hidden && row < map.weights.dim(0) * rows; ++row) {
    const std::span<const real> weights = map.row(0, row);
    hidden = std::all_of(weights.begin() + row % rows + 1, weights.end(),
                         [](real weight) { return weight == 0; });
  }
  return hidden;
}

std::string heat_map_scale(const HeatMapStyle& style, bool has_future) {
  std::string out = "weight 0 [";
  for (int tenth = 0; tenth <= 9; ++tenth) {
    out += heat_cell(tenth / 9.0, style.color);
  }
  return out + "] 1" + (style.color ? ", darker is more" : "") +
         (has_future ? "; ╱ is later and hidden\n" : "\n");
}

}  // namespace heed::cli
