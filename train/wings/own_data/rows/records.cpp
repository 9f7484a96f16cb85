#include "train/wings/own_data/rows/records.h"

#include <algorithm>

#include "layers/text/display.h"
#include "layers/text/utf8.h"

namespace heed {

bool TsvReader::next(Record& record) {
  while (const std::optional<Line> line = lines_.next()) {
    int64_t above = 0;
    if (const std::string wrong = wrong_bytes(line->text(), above); !wrong.empty()) {
      mistakes_.add(line->number, wrong);
      continue;
    }
    record.cells.clear();
    record.line = line->number;
    std::string_view left = line->text();
    for (size_t tab = left.find('\t'); tab != std::string_view::npos; tab = left.find('\t')) {
      record.cells.push_back(left.substr(0, tab));
      left.remove_prefix(tab + 1);
    }
    record.cells.push_back(left);
    return true;
  }
  return false;
}

bool CsvReader::at_end_of_line() const {
  return at_ == text_.size() || text_[at_] == '\n' || all().substr(at_).starts_with("\r\n");
}

void CsvReader::skip_end_of_line() {
  if (at_ < text_.size()) {
    at_ += text_[at_] == '\r' ? 2 : 1;
    ++line_;
  }
}

void CsvReader::skip_line() {
  at_ = std::min(all().find('\n', at_), text_.size());
  skip_end_of_line();
}

bool CsvReader::next(Record& record) {
  while (at_ < text_.size()) {
    if (at_end_of_line()) {
      skip_end_of_line();
    } else if (read(record)) {
      return true;
    }
  }
  return false;
}

// Reads a record that begins here. False if there is a mistake in it.
bool CsvReader::read(Record& record) {
  record.cells.clear();
  record.line = line_;
  CellEnd after = CellEnd::comma;
  while (after == CellEnd::comma) {
    after = at_ < text_.size() && text_[at_] == '"' ? read_quoted(record) : read_cell(record);
  }
  if (after == CellEnd::mistake) {
    return false;
  }
  for (size_t k = 0; k < record.cells.size(); ++k) {
    int64_t above = 0;
    if (const std::string wrong = wrong_bytes(record.cells[k], above); !wrong.empty()) {
      mistakes_.add(record.line + above, wrong, " of cell ", k + 1);
      return false;
    }
  }
  return true;
}

CsvReader::CellEnd CsvReader::read_cell(Record& record) {
  const size_t begin = at_;
  const size_t quote = std::min(all().find_first_not_of(" \t", begin), text_.size());
  if (quote < text_.size() && text_[quote] == '"' && text_[begin] != separator_) {
    mistakes_.add(line_, "expected a quote at the beginning of the cell, got it after a blank in ",
                  "column ", column_of(all(), quote), "; leave the blank out, or quote all of it");
    skip_line();
    return CellEnd::mistake;
  }
  while (!at_end_of_line() && text_[at_] != separator_) {
    ++at_;
  }
  record.cells.push_back(all().substr(begin, at_ - begin));
  return after_cell();
}

// The cell is unescaped in place: it never grows.
CsvReader::CellEnd CsvReader::read_quoted(Record& record) {
  const size_t opened = at_;
  const int64_t opened_line = line_;
  size_t to = ++at_;
  for (; at_ < text_.size(); ++at_) {
    if (text_[at_] == '"') {
      if (at_ + 1 == text_.size() || text_[at_ + 1] != '"') {
        break;
      }
      ++at_;
    }
    line_ += text_[at_] == '\n' ? 1 : 0;
    text_[to++] = text_[at_];
  }
  if (at_ == text_.size()) {
    mistakes_.add(opened_line, "expected a quote that closes the one in column ",
                  column_of(all(), opened), ", got the end of the file");
    return CellEnd::mistake;
  }
  ++at_;
  if (!at_end_of_line() && text_[at_] != separator_) {
    const size_t size = std::max<size_t>(1, utf8_at(all(), at_).size);
    mistakes_.add(line_, "expected ", separator_ == ',' ? "a comma" : "the separator",
                  " after the closing quote, got ", printable(all().substr(at_, size)),
                  "; a quote inside of quotes is written twice");
    skip_line();
    return CellEnd::mistake;
  }
  record.cells.push_back(all().substr(opened + 1, to - opened - 1));
  return after_cell();
}

CsvReader::CellEnd CsvReader::after_cell() {
  if (at_ < text_.size() && text_[at_] == separator_) {
    ++at_;
    return CellEnd::comma;
  }
  skip_end_of_line();
  return CellEnd::end_of_record;
}

}  // namespace heed
