#include "train/wings/own_data/rows/text_rows.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "layers/text/display.h"
#include "layers/text/utf8.h"
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

}  // namespace

TextRows::TextRows(std::vector<char> bytes, const std::filesystem::path& path,
                   const std::array<RowColumn, 2>& columns, const std::string& separator)
    : bytes_(std::move(bytes)) {
  const Format format = format_of(path);
  require<ConfigError>(separator.empty() || format == Format::csv, path.string(),
                       ": data.separator is for a file named *.csv; leave it out");
  const std::string_view all(bytes_.data(), bytes_.size());
  const std::span<char> text =
      std::span(bytes_).subspan(all.size() - without_byte_order_mark(all).size());
  rows_.reserve(static_cast<size_t>(std::count(text.begin(), text.end(), '\n')) + 1);
  RowMistakes mistakes(path.string());
  if (std::count(text.begin(), text.end(), '\n') == 0 &&
      std::count(text.begin(), text.end(), '\r') > 1) {
    mistakes.refuse("expected lines that end with a newline, got carriage returns alone, the line ",
                    "ends of old Macs; convert the file (with tr '\\r' '\\n', for example)");
  }
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
    const char by_name = format == Format::csv ? ',' : '\t';
    taken_ = read_table(text, separator.empty() ? by_name : separator[0], columns, mistakes, add);
  }
  mistakes.throw_if_any();
  if (rows_.empty()) {
    mistakes.refuse("expected examples, got none");
  }
  if (taken_.by_order && columns[1].is_label) {
    check_order(mistakes, columns);
  }
}

// Labels repeat, texts do not.
void TextRows::check_order(const RowMistakes& file, const std::array<RowColumn, 2>& columns) const {
  constexpr size_t least = 10;  // fewer rows say nothing
  std::unordered_map<std::string_view, size_t> labels;
  std::unordered_set<std::string_view> texts;
  for (int64_t i = 0; i < size(); ++i) {
    const auto& [input, label] = (*this)[i].cells;
    texts.insert(input);
    ++labels[label];
  }
  const std::string &text_role = columns[0].role, &label_role = columns[1].role;
  if (rows_.size() >= least && 5 * texts.size() <= rows_.size() &&
      2 * labels.size() > rows_.size()) {
    file.refuse("the columns look swapped: expected few different labels, got ", labels.size(),
                " in column 2 and ", texts.size(), " texts in column 1; data.", text_role,
                ": \"2\", data.", label_role, ": \"1\" swaps them");
  }
  const Row first = (*this)[0];
  const auto once = std::count_if(labels.begin(), labels.end(),
                                  [](const auto& label) { return label.second == 1; });
  if (rows_.size() >= least && once == 1 && labels.at(first.cells[1]) == 1) {
    fail<RowError>(file.file(), ":", first.line, ": expected a label that another line has too, ",
                   "got ", printable(first.cells[1]), "; if this line is a header: data.",
                   text_role, ": ", printable(without_blanks(first.cells[0])), ", data.",
                   label_role, ": ", printable(first.cells[1]), "; else: data.", text_role,
                   ": \"1\", data.", label_role, ": \"2\"");
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
