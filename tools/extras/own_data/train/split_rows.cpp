#include "tools/extras/own_data/train/split_rows.h"

#include <algorithm>
#include <unordered_set>

#include "autograd/base/rethrow.h"
#include "layers/text/display.h"
#include "layers/text/utf8.h"
#include "tools/extras/own_data/train/json_lines.h"
#include "train/data/data_file.h"

namespace heed {

namespace {

constexpr int64_t bytes_per_byte = 6;  // of a file: its rows, and their tokens

// How the lines of a file become cells.
struct Format {
  char separator = whole_lines;
  bool is_json = false;  // an object each line
};

Format format_of(const std::filesystem::path& path, bool one_cell, const std::string& separator) {
  const std::string extension = in_lower_case(path.extension().string());
  const bool is_csv = extension == ".csv" && !one_cell;
  require<ConfigError>(separator.empty() || is_csv, path.string(),
                       ": data.separator is for a file named *.csv; leave it out");
  if (is_csv) return {separator.empty() ? ',' : separator[0]};
  if (extension == ".txt" || (!one_cell && (extension == ".tsv" || extension == ".tab"))) {
    return {one_cell ? whole_lines : '\t'};
  }
  require<ConfigError>(extension == ".jsonl" || extension == ".ndjson", path.string(),
                       ": expected a file named ",
                       one_cell ? "*.txt (a text each line)" : "*.tsv, *.csv",
                       " or *.jsonl (an object each line), got ",
                       extension.empty() ? "no extension" : printable(extension));
  return {.is_json = true};
}

// Takes the line of a record apart, which is its one cell.
bool read_object(Record& record, std::span<const RowColumn> columns, RowMistakes& mistakes) {
  std::vector<std::string> cells;
  const std::string wrong = read_json_object(record.cells[0], columns, cells);
  record.cells = std::move(cells);
  if (!wrong.empty()) mistakes.add(record.line, wrong);
  return wrong.empty();
}

// Makes a row of the cells `at` of a record. False if one of them has no text.
bool make_row(Record& record, const std::array<size_t, 2>& at, std::span<const RowColumn> columns,
              RowMistakes& mistakes, TextRow& row) {
  bool complete = true;
  row.line = record.line;
  for (size_t k = 0; k < columns.size(); ++k) {
    std::string& cell = record.cells[at[k]];
    if (const std::string wrong = wrong_text(cell, columns[k].role); !wrong.empty()) {
      mistakes.add(record.line, wrong);
      complete = false;
    }
    row.cells[k] = columns[k].is_label ? std::string(without_blanks(cell)) : std::move(cell);
  }
  return complete;
}

TextRows read_file_of_rows(const std::filesystem::path& path, const std::string& expected,
                           const SplitRows::Read& read) {
  const std::string bytes = open_data_file(path, bytes_per_byte).whole();
  const auto changed =
      error_of<IoError>([&] { require_fingerprint(path, fingerprint(as_bytes(bytes)), expected); });
  TextRows rows = read(bytes, path);
  rows.path = path;
  rows.changed = changed.value_or("");
  return rows;
}

uint64_t hash_of(const TextRow& row) { return fingerprint(as_bytes(row.cells[0])).xxh64; }

}  // namespace

void OwnDataConfig::first_fields(Fields& f) {
  f.required("path", path,
             "*.tsv, *.csv or *.jsonl, an example each line; relative to the config's folder");
}

void OwnDataConfig::more_fields(Fields& f, bool is_table) {
  f.section("tokenizer", tokenizer, "tokenizer", "what a token is").short_form = true;
  if (is_table) {
    f.optional("separator", separator,
               "of the cells of a *.csv: one character, as \";\"; by default a comma");
  }
  f.optional("train_fraction", train_fraction, in_range(0, 1, Bound::open),
             "share of the examples to train on, chosen by a hash of what the model reads; the "
             "rest is for validation");
  f.optional("validation", validation, "a file of its own to validate with; all of path trains");
  f.optional("max_length", max_length, at_least(1), "tokens; longer examples are left out", "none");
  f.optional("shuffle", shuffle, "examples in a new order every epoch");
  f.optional("fingerprint", fingerprint, fingerprint_help);
  f.optional("validation_fingerprint", validation_fingerprint, "that of the other file");
}

void OwnDataConfig::check(ConfigErrors& errors, const ConfigNode& at,
                          std::span<const RowColumn> columns) const {
  if (columns.size() > 1 && columns[0].key() == columns[1].key()) {
    errors.add_field(at, columns[1].role, "expected another column than that of ", columns[0].role,
                     ", got ", printable(columns[1].key()), " for both");
  }
  if (separator.size() > 1 || separator == "\"" || separator == "\n" || separator == "\t") {
    errors.add_field(
        at, "separator", "expected a character such as \";\", got ",
        separator == "\t" ? "a tab; name a file with tabs *.tsv" : printable(separator));
  }
  if (!validation.empty() && train_fraction != OwnDataConfig{}.train_fraction) {
    errors.add_field(at, "train_fraction", "has no effect with data.validation: all of data.path ",
                     "is trained on; leave it out");
  }
}

TextRows read_rows(std::string_view bytes, const std::filesystem::path& path,
                   std::span<const RowColumn> columns, const std::string& separator) {
  const Format format = format_of(path, columns.size() == 1, separator);
  const std::string_view text = without_byte_order_mark(bytes);
  RowMistakes mistakes(path.string());
  TableReader records(text, format.separator, mistakes);
  TableColumns table(columns, format.separator, mistakes);
  const bool is_table = format.separator != whole_lines;
  TextRows all;
  all.rows.reserve(static_cast<size_t>(std::count(text.begin(), text.end(), '\n')) + 1);
  for (Record record; records.next(record);) {
    if (is_table ? !table.takes(record)
                 : format.is_json && !read_object(record, columns, mistakes)) {
      continue;
    }
    TextRow row;
    if (make_row(record, table.at(), columns, mistakes, row)) all.rows.push_back(std::move(row));
  }
  mistakes.throw_if_any();
  if (all.rows.empty()) mistakes.refuse("expected examples, got none");
  table.require_no_header(all.rows);
  all.columns = table.in_words();
  return all;
}

SplitRows::SplitRows(const OwnDataConfig& c, const TaskSetup& setup,
                     std::span<const RowColumn> columns)
    : SplitRows(c, setup, [&](std::string_view bytes, const std::filesystem::path& path) {
        return read_rows(bytes, path, columns, c.separator);
      }) {}

SplitRows::SplitRows(const OwnDataConfig& c, const TaskSetup& setup, const Read& read)
    : train_fraction_(c.train_fraction) {
  if (setup.data == TaskSetup::Data::absent) return;
  files_.push_back(read_file_of_rows(setup.config_folder / c.path, c.fingerprint, read));
  if (c.validation.empty()) return;
  files_.push_back(at_field<IoError, TaskFileError>("validation", [&] {
    return read_file_of_rows(setup.config_folder / c.validation, c.validation_fingerprint, read);
  }));
  std::unordered_set<uint64_t> trained;
  for (const TextRow& row : files_[0].rows) trained.insert(hash_of(row));
  seen_ = std::count_if(files_[1].rows.begin(), files_[1].rows.end(),
                        [&](const TextRow& row) { return trained.contains(hash_of(row)); });
}

void SplitRows::require_unchanged() const {
  require<IoError>(files_.empty() || files_[0].changed.empty(), files_[0].changed);
  if (files_.size() > 1 && !files_[1].changed.empty()) {
    throw TaskFileError("validation", files_[1].changed);
  }
}

Split SplitRows::split(size_t file, const TextRow& row) const {
  if (files_.size() > 1) return file == 0 ? Split::train : Split::validation;
  const double place = static_cast<double>(hash_of(row) >> 11) * 0x1p-53;
  return place < train_fraction_ ? Split::train : Split::validation;
}

int64_t SplitRows::bytes() const {
  int64_t bytes = 0;
  for (const TextRows& file : files_) {
    for (const TextRow& row : file.rows)
      bytes += std::ssize(row.cells[0]) + std::ssize(row.cells[1]);
  }
  return bytes;
}

std::vector<std::string_view> SplitRows::cells(size_t column) const {
  std::vector<std::string_view> cells;
  for (const TextRows& file : files_) {
    for (const TextRow& row : file.rows) cells.push_back(row.cells[column]);
  }
  return cells;
}

}  // namespace heed
