// The records of a table, cell by cell, before anything is known about its columns.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "train/wings/own_data/rows/lines.h"
#include "train/wings/own_data/rows/row_mistakes.h"

namespace heed {

struct Record {
  std::vector<std::string_view> cells;
  int64_t line = 0;  // where it begins, from 1
};

class RecordReader {
 public:
  virtual ~RecordReader() = default;
  // The next record. Those with mistakes in them are reported and skipped. False at the end.
  virtual bool next(Record& record) = 0;
};

// Lines whose cells are separated by tabs.
class TsvReader final : public RecordReader {
 public:
  TsvReader(std::span<char> text, RowMistakes& mistakes) : lines_(text), mistakes_(mistakes) {}
  bool next(Record& record) override;

 private:
  Lines lines_;
  RowMistakes& mistakes_;
};

// RFC 4180: cells are separated by commas, or another character. One that begins with a quote ends
// with the next single quote, and "" in it is a quote. A quote in the middle of another cell is an
// ordinary character; after blanks alone it could be either, and is a mistake.
class CsvReader final : public RecordReader {
 public:
  CsvReader(std::span<char> text, char separator, RowMistakes& mistakes)
      : text_(text), separator_(separator), mistakes_(mistakes) {}
  bool next(Record& record) override;

 private:
  enum class CellEnd { comma, end_of_record, mistake };

  std::string_view all() const { return {text_.data(), text_.size()}; }
  bool at_end_of_line() const;
  void skip_end_of_line();
  void skip_line();
  bool read(Record& record);
  CellEnd read_cell(Record& record);
  CellEnd read_quoted(Record& record);
  CellEnd after_cell();

  std::span<char> text_;
  const char separator_;
  RowMistakes& mistakes_;
  size_t at_ = 0;
  int64_t line_ = 1;
};

}  // namespace heed
