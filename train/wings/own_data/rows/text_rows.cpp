#include "train/wings/own_data/rows/text_rows.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "layers/text/display.h"
#include "layers/text/utf8.h"
#include "train/wings/own_data/rows/json_lines.h"
#include "train/wings/own_data/rows/lines.h"
#include "train/wings/own_data/rows/table.h"

namespace heed {

namespace {

enum class Format { lines, tsv, csv, json_lines };

Format format_of(const std::filesystem::path& path, bool one_cell) {
  const std::string extension = in_lower_case(path.extension().string());
  if (extension == ".txt" || (!one_cell && (extension == ".tsv" || extension == ".tab"))) {
    return one_cell ? Format::lines : Format::tsv;
  }
  if (extension == ".csv" && !one_cell) {
    return Format::csv;
  }
  require<ConfigError>(extension == ".jsonl" || extension == ".ndjson", path.string(),
                       ": expected a file named ",
                       one_cell ? "*.txt (a text each line)" : "*.tsv, *.csv",
                       " or *.jsonl (an object each line), got ",
                       extension.empty() ? "no extension" : printable(extension));
  return Format::json_lines;
}

constexpr int64_t most_bytes = std::numeric_limits<int32_t>::max();  // of a row

// Excel's "sep=;", which is no row of the table.
void refuse_separator_line(std::string_view table, const RowMistakes& file) {
  const std::string_view line = without_blanks(table.substr(0, table.find('\n')));
  if (line.size() == 5 && line.starts_with("sep=")) {
    fail<RowError>(file.file(), ":1: expected an example or a header, got ", printable(line),
                   ", a line for Excel; delete it",
                   line[4] == ',' ? "" : text(", and give data.separator: \"", line[4], "\""));
  }
}

bool is_language(std::string_view cell) {
  static const std::string names =
      " en de fr es it nl pt ru pl tr ar zh ja ko hi la english german french spanish italian "
      "dutch portuguese russian chinese japanese ";
  const std::string name = in_lower_case(std::string(without_blanks(cell)));
  return names.find(" " + name + " ") != std::string::npos;
}

}  // namespace

TextRows::TextRows(std::vector<char> bytes, const std::filesystem::path& path,
                   const std::array<RowColumn, 2>& columns, const std::string& separator)
    : bytes_(std::move(bytes)) {
  const Format format = format_of(path, columns[1].role.empty());
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
    for (size_t k = 0; k < cells.size() && !columns[k].role.empty(); ++k) {
      const std::string_view inner = without_blanks(cells[k]);
      if (inner.empty()) {
        mistakes.add(line, "expected text as ", columns[k].role, ", got ",
                     cells[k].empty() ? "nothing" : "blanks alone");
        complete = false;
      }
      cells[k] = columns[k].is_label ? inner : cells[k];
    }
    if (!complete) return;
    const std::string_view first = cells[0], second = cells[1];
    const int64_t to_next = second.data() - first.data();
    if (std::max(std::abs(to_next), std::ssize(first) + std::ssize(second)) > most_bytes) {
      mistakes.add(line, "expected a row of less than 2 GB");
      return;
    }
    append({cells, line});
  };
  if (format == Format::json_lines) {
    read_json_lines(text, columns, mistakes, add);
  } else if (format == Format::lines) {
    Lines lines(text);
    while (const std::optional<Line> line = lines.next()) {
      int64_t above = 0;
      const std::string wrong = wrong_bytes(line->text(), above);
      wrong.empty() ? add({line->text(), line->text().substr(0, 0)}, line->number)
                    : mistakes.add(line->number, wrong);
    }
  } else {
    refuse_separator_line({text.data(), text.size()}, mistakes);
    const char by_name = format == Format::csv ? ',' : '\t';
    taken_ = read_table(text, separator.empty() ? by_name : separator[0], columns, mistakes, add);
  }
  mistakes.throw_if_any();
  if (rows_.empty()) mistakes.refuse("expected examples, got none");
  if (taken_.no_header) check_first_line(mistakes, columns);
}

TextRows::TextRows(std::vector<char> bytes, std::span<const Row> rows) : bytes_(std::move(bytes)) {
  rows_.reserve(rows.size());
  std::for_each(rows.begin(), rows.end(), [this](const Row& row) { append(row); });
}

void TextRows::append(const Row& row) {
  const auto& [first, second] = row.cells;
  rows_.push_back(
      {.begin = first.data() - bytes_.data(),
       .to_next = static_cast<int32_t>(second.data() - first.data()),
       .sizes = {static_cast<uint32_t>(first.size()), static_cast<uint32_t>(second.size())},
       .line = static_cast<uint32_t>(row.line)});
}

// Labels repeat, texts do not. Columns that the config gives are taken, with a warning.
void TextRows::check_first_line(const RowMistakes& file, const std::array<RowColumn, 2>& columns) {
  constexpr size_t least = 10;  // fewer rows say nothing
  const bool labelled = columns[1].is_label, refuses = taken_.by_order && labelled;
  std::unordered_map<std::string_view, size_t> labels;
  std::unordered_set<std::string_view> texts;
  for (int64_t i = 0; i < size() && labelled; ++i) {
    const auto& [input, label] = (*this)[i].cells;
    texts.insert(input);
    ++labels[label];
  }
  const std::string &text_role = columns[0].role, &label_role = columns[1].role;
  if (refuses && rows_.size() >= least && 5 * texts.size() <= rows_.size() &&
      2 * labels.size() > rows_.size()) {
    file.refuse("the columns look swapped: expected few different labels, got ", labels.size(),
                " in column 2 and ", texts.size(), " texts in column 1; data.", text_role,
                ": \"2\", data.", label_role, ": \"1\" swaps them");
  }
  const Row first = (*this)[0];
  const auto once = std::count_if(labels.begin(), labels.end(),
                                  [](const auto& label) { return label.second == 1; });
  if (labelled ? rows_.size() < least || once != 1 || labels.at(first.cells[1]) != 1
               : !is_language(first.cells[0]) || !is_language(first.cells[1])) {
    return;
  }
  const std::string by_name =
      text("data.", text_role, ": ", printable(without_blanks(first.cells[0])), ", data.",
           label_role, ": ", printable(without_blanks(first.cells[1])));
  require<RowError>(!refuses, file.file(), ":", first.line, ": expected a label that another line ",
                    "has too, got ", printable(first.cells[1]),
                    "; if this line is a header: ", by_name, "; else: data.", text_role,
                    ": \"1\", data.", label_role, ": \"2\"");
  warning_ = text(std::filesystem::path(file.file()).filename().string(), ":", first.line,
                  " is taken as an example; if this line is a header: ", by_name);
}

TextRows::Row TextRows::operator[](int64_t i) const {
  const Place& place = rows_[static_cast<size_t>(i)];
  const char* const first = bytes_.data() + place.begin;
  return {{std::string_view(first, place.sizes[0]),
           std::string_view(first + place.to_next, place.sizes[1])},
          place.line};
}

}  // namespace heed
