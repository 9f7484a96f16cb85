// A file of examples, two cells each: the input and what a model should make of it. Or a single
// one: then columns[1] has no role, and cells[1] is empty. The extension of the file gives its
// format:
//   *.tsv *.tab *.txt   a line each, cells separated by tabs; nothing is quoted
//   *.csv               RFC 4180: commas; cells in quotes may hold commas, newlines and "" for "
//   *.jsonl *.ndjson    a JSON object each line
// and of single cells:  *.txt, a line each, or *.jsonl, *.ndjson
// Empty lines, a byte order mark and carriage returns before a newline are skipped.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "train/wings/own_data/rows/row_mistakes.h"

namespace heed {

// Which column of a file a cell comes from.
struct RowColumn {
  std::string role;       // "source": what the cell is for; also the usual name of the column
  std::string name = {};  // the column's name or, of a table, its number from 1; "": the usual one
  bool is_label = false;  // blanks at either end are cut off; in JSON it may be a number or truth
  bool is_optional = false;  // an object of JSON may be without it, or have null
};

// Which columns of a table were taken.
struct TakenColumns {
  std::string in_words = {};  // "text is column 1, label column 2, no header"
  bool by_order = false;      // since nothing was said, neither in the config nor in a header
  bool no_header = false;     // the first line of the table is an example
};

class TextRows {
 public:
  struct Row {
    std::array<std::string_view, 2> cells;  // valid UTF-8 with something else than blanks in it
    int64_t line = 0;                       // where the row begins, from 1
  };

  // A table without names is read by the order of its two columns, unless its first line has usual
  // names for them: then, and with names, the first line is a header. `separator` of a *.csv: "" is
  // a comma. Throws RowError with all mistakes (one is a row of 2 GB or more), for a file without
  // rows, whose columns by order look swapped, or whose first line looks like a header and is none;
  // ConfigError for an unknown extension.
  TextRows(std::vector<char> bytes, const std::filesystem::path& path,
           const std::array<RowColumn, 2>& columns, const std::string& separator = "");
  // Of rows that were read in another way, with views into `bytes`.
  TextRows(std::vector<char> bytes, std::span<const Row> rows);
  TextRows(TextRows&&) = default;
  TextRows& operator=(TextRows&&) = default;

  int64_t size() const { return static_cast<int64_t>(rows_.size()); }
  Row operator[](int64_t i) const;
  // "": there is nothing to say, as for JSON.
  const std::string& columns_in_words() const { return taken_.in_words; }
  // "", or that the first line, which is taken as an example, may be a header.
  const std::string& warning() const { return warning_; }

 private:
  void append(const Row& row);
  void check_first_line(const RowMistakes& file, const std::array<RowColumn, 2>& columns);

  // Where a row is in `bytes_`: 24 bytes, since a file may have many short rows.
  struct Place {
    int64_t begin = 0;    // of the first cell
    int32_t to_next = 0;  // from there to the second one, which may be before it
    std::array<uint32_t, 2> sizes{};
    uint32_t line = 0;
  };

  std::vector<char> bytes_;  // the file; cells that were escaped in it are unescaped in place
  std::vector<Place> rows_;
  TakenColumns taken_;
  std::string warning_;
};

}  // namespace heed
