// Which cells of a record are meant.
#pragma once

#include <array>
#include <span>

#include "tools/extras/own_data/train/records.h"

namespace heed {

// Which column of a file a cell comes from.
struct RowColumn {
  std::string role;       // "source": what the cell is for; also the usual name of the column
  std::string name = {};  // the column's name or, of a table, its number from 1; "": the usual one
  bool is_label = false;  // blanks at either end are cut off; in JSON it may be a number or boolean
  bool is_optional = false;  // an object of JSON may be without it, or have null
  const char* also = "";     // its keys in data of others, with a blank before and after each

  const std::string& key() const { return name.empty() ? role : name; }
};

// The cells of an example, in the order of its columns: what a model is given and, if there are two
// columns, what it should make of it.
struct TextRow {
  std::array<std::string, 2> cells;  // valid UTF-8 with something else than blanks in it
  int64_t line = 0;                  // where it begins, from 1
};

// The two columns of a table. One without names is read by the order of its columns, unless its
// first record has usual names for them: then, and with names, the first record is a header.
class TableColumns {
 public:
  TableColumns(std::span<const RowColumn> columns, char separator, RowMistakes& mistakes)
      : columns_(columns), separator_(separator), mistakes_(mistakes) {}

  // False for a header, and for a record with another number of cells, which is a mistake. Throws
  // RowError at the first record if the columns are not in it.
  bool takes(const Record& record);
  // The cells of the columns.
  const std::array<size_t, 2>& at() const { return at_; }
  // Throws RowError if the columns go by order and the first row looks like a header: its label is
  // the only one that no other row has.
  void require_no_header(std::span<const TextRow> rows) const;
  // "text is review, label is sentiment"; "" before the first record.
  std::string in_words() const;

 private:
  enum class Way { order, header, numbers };

  void choose(const Record& first);
  [[noreturn]] void refuse_more_than_two() const;
  // The name of the first record that is usual for a column; "": none.
  std::string usual_name(const RowColumn& column) const;
  size_t find(const RowColumn& column) const;
  std::string separator() const;
  std::string instead(std::string_view cell) const;

  const std::span<const RowColumn> columns_;
  const char separator_;
  RowMistakes& mistakes_;
  Way way_ = Way::order;
  std::array<size_t, 2> at_ = {0, 1};
  std::vector<std::string> first_;  // the cells of the first record
  int64_t first_line_ = 0;
};

}  // namespace heed
