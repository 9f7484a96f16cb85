#include "tools/extras/own_data/train/records.h"

#include <algorithm>

#include "layers/text/display.h"
#include "layers/text/formatted.h"
#include "layers/text/utf8.h"

namespace heed {

namespace {

// The column, in characters from 1, of byte `at`, which has valid UTF-8 before it in its line.
int64_t column_of(std::string_view text, size_t at) {
  std::string_view line = text.substr(0, at);
  line.remove_prefix(line.rfind('\n') + 1);
  return 1 + std::count_if(line.begin(), line.end(),
                           [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
}

}  // namespace

std::string_view without_blanks(std::string_view cell) {
  constexpr std::string_view blanks = " \t\n\v\f\r";
  const size_t first = std::min(cell.find_first_not_of(blanks), cell.size());
  return cell.substr(first, cell.find_last_not_of(blanks) + 1 - first);
}

std::string wrong_text(std::string_view cell, const std::string& role) {
  return !without_blanks(cell).empty()
             ? ""
             : text("expected text as ", role, ", got ", cell.empty() ? "nothing" : "blanks alone");
}

std::string wrong_bytes(std::string_view text, int64_t& line) {
  const size_t at = std::min(first_wrong_byte(text), text.find('\0'));
  if (at == text.size()) return "";
  line = std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(at), '\n');
  return heed::text("expected UTF-8, got the byte ",
                    formatted("0x%02X", static_cast<unsigned char>(text[at])), " in column ",
                    column_of(text, at),
                    text[at] == '\0' ? " (a file in UTF-16 has such bytes)" : "");
}

bool TableReader::next(Record& record) {
  while (at_ < text_.size()) {
    if (!skip_line_end() && read(record)) return true;
  }
  return false;
}

// The bytes of the end of a line that is here, 0 if there is none.
size_t TableReader::line_end() const {
  const std::string_view rest = text_.substr(at_, 2);
  return rest == "\r\n" ? 2 : rest == "\r" || rest.starts_with('\n') ? 1 : 0;
}

bool TableReader::skip_line_end() {
  const size_t size = line_end();
  at_ += size;
  line_ += size > 0 ? 1 : 0;
  return size > 0;
}

bool TableReader::skip_separator() {
  const bool is_here = at_ < text_.size() && text_[at_] == separator_;
  at_ += is_here ? 1 : 0;
  return is_here;
}

// Skips what is left of a line with a mistake.
bool TableReader::refuse_line() {
  at_ = std::min(text_.find('\n', at_), text_.size());
  skip_line_end();
  return false;
}

// Reads a record that begins here. False if there is a mistake in it.
bool TableReader::read(Record& record) {
  const size_t begin = at_;
  record.line = line_;
  record.cells.clear();
  do {
    if (!read_cell(record.cells.emplace_back())) return false;
  } while (skip_separator());
  const std::string_view whole = text_.substr(begin, at_ - begin);
  skip_line_end();
  return is_utf8(record, whole);
}

bool TableReader::read_cell(std::string& cell) {
  const size_t begin = at_;
  const size_t quote = std::min(text_.find_first_not_of(" \t", begin), text_.size());
  if (has_quotes() && quote < text_.size() && text_[quote] == '"' && text_[begin] != separator_) {
    if (quote == begin) return read_quoted(cell);
    mistakes_.add(line_, "expected a quote at the beginning of the cell, got it after a blank in ",
                  "column ", column_of(text_, quote), "; leave the blank out, or quote all of it");
    return refuse_line();
  }
  while (at_ < text_.size() && text_[at_] != separator_ && line_end() == 0) ++at_;
  cell = text_.substr(begin, at_ - begin);
  return true;
}

bool TableReader::read_quoted(std::string& cell) {
  const size_t opened = at_;
  for (bool closed = false; !closed;) {
    const size_t quote = text_.find('"', at_ + 1);
    if (quote == std::string_view::npos) {
      mistakes_.add(line_, "expected a quote that closes the one in column ",
                    column_of(text_, opened), ", got the end of the file");
      at_ = text_.size();
      return false;
    }
    cell += text_.substr(at_ + 1, quote - at_ - 1);
    at_ = quote + 1;
    closed = at_ == text_.size() || text_[at_] != '"';
    cell += closed ? "" : "\"";
  }
  line_ += std::count(cell.begin(), cell.end(), '\n');
  if (at_ < text_.size() && text_[at_] != separator_ && line_end() == 0) {
    const size_t size = std::max<size_t>(1, utf8_at(text_, at_).size);
    mistakes_.add(line_, "expected ", separator_ == ',' ? "a comma" : "the separator",
                  " after the closing quote, got ", printable(text_.substr(at_, size)),
                  "; a quote inside of quotes is written twice");
    return refuse_line();
  }
  return true;
}

// Columns are counted in a cell where a quote may be written as two, else in the line.
bool TableReader::is_utf8(const Record& record, std::string_view whole) {
  for (size_t k = 0; k < (has_quotes() ? record.cells.size() : 1); ++k) {
    int64_t above = 0;
    const std::string wrong = wrong_bytes(has_quotes() ? record.cells[k] : whole, above);
    if (!wrong.empty()) {
      mistakes_.add(record.line + above, wrong, has_quotes() ? text(" of cell ", k + 1) : "");
      return false;
    }
  }
  return true;
}

}  // namespace heed
