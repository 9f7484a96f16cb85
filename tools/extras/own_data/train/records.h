// The records of a file, cell by cell, before anything is known about its columns.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/extras/own_data/train/row_mistakes.h"

namespace heed {

struct Record {
  std::vector<std::string> cells;
  int64_t line = 0;  // where it begins, from 1
};

// The separator of a file whose lines are cells: NUL, which no text has.
inline constexpr char whole_lines = '\0';

// A record each line, cells between separators. A line ends with "\n" or "\r\n"; empty ones are
// skipped. With tabs and whole_lines nothing is quoted. Else as RFC 4180 has it: a cell that begins
// with a quote ends with the next single quote, may have newlines in it, and "" in it is a quote. A
// quote in the middle of another cell is an ordinary character; after blanks alone it could be
// either, and is a mistake.
class TableReader {
 public:
  TableReader(std::string_view text, char separator, RowMistakes& mistakes)
      : text_(text), separator_(separator), mistakes_(mistakes) {}
  // The next record. Those with mistakes in them are reported and skipped. False at the end.
  bool next(Record& record);

 private:
  bool has_quotes() const { return separator_ != '\t' && separator_ != whole_lines; }
  size_t line_end() const;
  bool skip_line_end();
  bool skip_separator();
  bool refuse_line();
  bool read(Record& record);
  bool read_cell(std::string& cell);
  bool read_quoted(std::string& cell);
  bool is_utf8(const Record& record, std::string_view whole);

  const std::string_view text_;
  const char separator_;
  RowMistakes& mistakes_;
  size_t at_ = 0;
  int64_t line_ = 1;
};

// A cell without the white space at its ends.
std::string_view without_blanks(std::string_view cell);

// "", or that a cell for `role` has no text.
std::string wrong_text(std::string_view cell, const std::string& role);

// What is wrong with the bytes of a text: "" for UTF-8 without NUL bytes, else the end of a
// message, "expected UTF-8, got the byte 0xE9 in column 5". `line` becomes the number of lines
// before it. A column counts characters, from 1.
std::string wrong_bytes(std::string_view text, int64_t& line);

}  // namespace heed
