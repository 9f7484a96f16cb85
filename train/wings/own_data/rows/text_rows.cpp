#include "train/wings/own_data/rows/text_rows.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <limits>

#include "layers/text/display.h"
#include "train/wings/own_data/rows/json_lines.h"
#include "train/wings/own_data/rows/table.h"

namespace heed {

namespace {

enum class Format { tsv, csv, json_lines };

Format format_of(const std::filesystem::path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (extension == ".tsv" || extension == ".tab" || extension == ".txt") {
    return Format::tsv;
  }
  if (extension == ".csv") {
    return Format::csv;
  }
  require<ConfigError>(
      extension == ".jsonl" || extension == ".ndjson", path.string(),
      ": expected a file named *.tsv, *.csv or *.jsonl (an object each line), got ",
      extension.empty() ? "no extension" : printable(extension));
  return Format::json_lines;
}

constexpr int64_t most_bytes = std::numeric_limits<int32_t>::max();  // of a row

constexpr std::string_view blanks = " \t\n\v\f\r";

std::string_view without_blanks(std::string_view cell) {
  const size_t first = cell.find_first_not_of(blanks);
  return first == std::string_view::npos
             ? std::string_view()
             : cell.substr(first, cell.find_last_not_of(blanks) + 1 - first);
}

}  // namespace

TextRows::TextRows(std::vector<char> bytes, const std::filesystem::path& path,
                   const std::array<RowColumn, 2>& columns)
    : bytes_(std::move(bytes)) {
  const Format format = format_of(path);
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  std::span<char> text(bytes_);
  if (std::string_view(text.data(), text.size()).starts_with(byte_order_mark)) {
    text = text.subspan(byte_order_mark.size());
  }
  rows_.reserve(static_cast<size_t>(std::count(text.begin(), text.end(), '\n')) + 1);
  RowMistakes mistakes(path.string());
  const auto add = [&](std::array<std::string_view, 2> cells, int64_t line) {
    bool complete = true;
    for (size_t k = 0; k < cells.size(); ++k) {
      const std::string_view inner = without_blanks(cells[k]);
      if (inner.empty()) {
        mistakes.add(line, "expected text as ", columns[k].role, ", got ",
                     cells[k].empty() ? "nothing" : "blanks alone");
        complete = false;
      }
      cells[k] = columns[k].is_label ? inner : cells[k];
    }
    if (!complete) {
      return;
    }
    const std::string_view first = cells[0], second = cells[1];
    const int64_t to_next = second.data() - first.data();
    if (std::max(std::abs(to_next), std::ssize(first) + std::ssize(second)) > most_bytes) {
      mistakes.add(line, "expected a row of less than 2 GB");
      return;
    }
    rows_.push_back(
        {.begin = first.data() - bytes_.data(),
         .to_next = static_cast<int32_t>(to_next),
         .sizes = {static_cast<uint32_t>(first.size()), static_cast<uint32_t>(second.size())},
         .line = static_cast<uint32_t>(line)});
  };
  if (format == Format::json_lines) {
    read_json_lines(text, columns, mistakes, add);
  } else {
    read_table(text, format == Format::csv ? TableKind::csv : TableKind::tsv, columns, mistakes,
               add);
  }
  mistakes.throw_if_any();
  if (rows_.empty()) {
    mistakes.refuse("expected examples, got none");
  }
}

TextRows::Row TextRows::operator[](int64_t i) const {
  const Place& place = rows_[static_cast<size_t>(i)];
  const char* const first = bytes_.data() + place.begin;
  return {{std::string_view(first, place.sizes[0]),
           std::string_view(first + place.to_next, place.sizes[1])},
          place.line};
}

}  // namespace heed
