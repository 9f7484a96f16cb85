#include "tools/extras/report/print.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string_view>
#include <vector>

#include "layers/text/formatted.h"

namespace heed {

namespace {

constexpr int64_t line_width = 80;
constexpr int64_t summary_above = 1000;  // elements
constexpr int64_t edge_items = 3;
constexpr std::string_view opening = "tensor(";

bool summarised(const Shape& shape) { return shape.size() > summary_above; }

// The printed indices of an axis of length n: all, or the first and last three.
std::vector<int64_t> shown_items(const Shape& shape, int64_t n) {
  std::vector<int64_t> items;
  for (int64_t i = 0; i < n; ++i) {
    if (!summarised(shape) || n <= 2 * edge_items || i < edge_items || i >= n - edge_items) {
      items.push_back(i);
    }
  }
  return items;
}

// Calls see(i) for every printed element i, over the axes from `axis` to the last.
void for_shown(const Shape& shape, int axis, int64_t block,
               const std::function<void(int64_t)>& see) {
  if (axis == shape.rank()) {
    return see(block);
  }
  for (const int64_t i : shown_items(shape, shape[axis])) {
    for_shown(shape, axis + 1, block * shape[axis] + i, see);
  }
}

// The number format of one tensor. All elements are padded to the same width.
struct Format {
  std::function<std::string(int64_t)> element;
  size_t width = 1;

  std::string padded(int64_t i) const {
    const std::string bare = element(i);
    return std::string(width - std::min(width, bare.size()), ' ') + bare;
  }
};

// The last axis, in lines of at most line_width columns.
std::string vector_text(const Shape& shape, int64_t block, size_t indent, const Format& format) {
  std::vector<std::string> words;
  const int64_t n = shape[-1];
  int64_t next = 0;
  for (const int64_t i : shown_items(shape, n)) {
    if (i != next) {
      words.emplace_back(" ...");
    }
    words.push_back(format.padded(block * n + i));
    next = i + 1;
  }
  const auto fitting =
      (line_width - static_cast<int64_t>(indent)) / (static_cast<int64_t>(format.width) + 2);
  const auto per_line = static_cast<size_t>(std::max<int64_t>(1, fitting));
  std::string all = "[";
  for (size_t i = 0; i < words.size(); ++i) {
    const bool new_line = i % per_line == 0;
    all += (i == 0 ? "" : new_line ? ",\n" + std::string(indent + 1, ' ') : ", ") + words[i];
  }
  return all + "]";
}

std::string block_text(const Shape& shape, int axis, int64_t block, size_t indent,
                       const Format& format) {
  if (shape.rank() == 0) {
    return format.padded(0);
  }
  if (axis == shape.rank() - 1) {
    return vector_text(shape, block, indent, format);
  }
  const auto new_lines = static_cast<size_t>(shape.rank() - 1 - axis);
  const std::string between = text(",", std::string(new_lines, '\n'), std::string(indent + 1, ' '));
  std::string all = "[";
  int64_t next = 0;
  for (const int64_t i : shown_items(shape, shape[axis])) {
    all += i > 0 ? between : "";
    all += i != next ? "..." + between : "";
    all += block_text(shape, axis + 1, block * shape[axis] + i, indent + 1, format);
    next = i + 1;
  }
  return all + "]";
}

// Appends ", suffix" to the last line, or starts a new line if it does not fit.
std::string with_suffixes(std::string all, const std::vector<std::string>& suffixes) {
  const size_t line_start = all.rfind('\n');
  size_t length = all.size() + (line_start == std::string::npos ? 2 : 1 - line_start);
  for (const std::string& suffix : suffixes) {
    if (length + suffix.size() + 2 > line_width) {
      all += ",\n" + std::string(opening.size(), ' ') + suffix;
      length = opening.size() + suffix.size();
    } else {
      all += ", " + suffix;
      length += suffix.size() + 2;
    }
  }
  return all + ")";
}

// `always`: print the dtype even if the elements imply it.
std::string tensor_text(const Shape& shape, const Format& format, const std::string& type,
                        bool always) {
  std::vector<std::string> suffixes;
  if (shape.size() == 0) {
    if (shape.rank() != 1) suffixes.push_back(text("size=", shape));
    if (type != "float32") suffixes.push_back("dtype=torch." + type);
    return with_suffixes(text(opening, "[]"), suffixes);
  }
  if (always) suffixes.push_back("dtype=torch." + type);
  return with_suffixes(text(opening, block_text(shape, 0, 0, opening.size(), format)), suffixes);
}

void fit(Format& format, const Shape& shape) {
  for_shown(shape, 0, 0, [&format](int64_t i) {
    format.width = std::max(format.width, format.element(i).size());
  });
}

// Zeros, infinities and NaN do not affect the format of the other elements.
Format float_format(const Array& values) {
  double smallest = std::numeric_limits<double>::infinity(), largest = 0;
  bool integers = true;
  std::vector<double> ordinary;
  for_shown(values.shape(), 0, 0, [&, from = values.data()](int64_t i) {
    const auto value = static_cast<double>(from[i]);
    if (!std::isfinite(value) || value == 0) return;
    smallest = std::min(smallest, std::abs(value));
    largest = std::max(largest, std::abs(value));
    integers = integers && value == std::ceil(value);
    ordinary.push_back(value);
  });
  const bool scientific =
      largest > 0 && (largest / smallest > 1000.0 || largest > 1.0e8 || smallest < 1.0e-4);
  const auto write = [scientific, integers](double value) -> std::string {
    if (std::isnan(value)) return "nan";  // printf may print a sign
    if (scientific) return formatted("%.4e", value);
    if (!integers) return formatted("%.4f", value);
    return formatted("%.0f", value) + (std::isinf(value) ? "" : ".");
  };
  Format format{
      [write, values](int64_t i) { return write(static_cast<double>(values.data()[i])); }};
  for (const double value : ordinary) {
    format.width = std::max(format.width, write(value).size());
  }
  return format;
}

}  // namespace

std::string printed(const Array& values) {
  const Format format = values.size() > 0 ? float_format(values) : Format{};
  return tensor_text(values.shape(), format, precision_name, is_float64);
}

std::string printed(const Ids& ids) {
  Format format{[ids](int64_t i) { return text(ids.data()[i]); }};
  fit(format, ids.shape());
  return tensor_text(ids.shape(), format, "int64", false);
}

std::string printed(const Mask& mask) {
  Format format{[mask](int64_t i) { return mask.data()[i] != 0 ? "True" : "False"; }};
  fit(format, mask.shape());
  return tensor_text(mask.shape(), format, "bool", false);
}

}  // namespace heed
