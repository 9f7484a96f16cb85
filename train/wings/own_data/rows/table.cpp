#include "train/wings/own_data/rows/table.h"

#include <algorithm>
#include <cctype>
#include <memory>

#include "layers/text/display.h"
#include "train/wings/own_data/rows/records.h"

namespace heed {

namespace {

bool is_column_number(const std::string& name) {
  return !name.empty() && name.size() < 5 &&
         std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return std::isdigit(c) != 0; });
}

bool same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

// Where the two cells of a row are, and how many it has.
struct Layout {
  std::array<size_t, 2> at = {0, 1};
  size_t count = 2;     // 0: at least as many as needed
  bool header = false;  // the first record is one
};

// Reads a table whose columns are known by the first record.
class TableReader {
 public:
  TableReader(TableKind kind, const std::array<RowColumn, 2>& columns, RowMistakes& mistakes)
      : kind_(kind), columns_(columns), mistakes_(mistakes) {}

  void read(RecordReader& records, const AddRow& add) {
    Record record;
    if (!records.next(record)) {
      return;
    }
    const Layout layout = layout_of(record);
    if (layout.at[0] == layout.at[1]) {
      fail<RowError>(mistakes_.file(), ":", record.line, ": expected two columns, ",
                     columns_[0].role, " and ", columns_[1].role, ", got number ", layout.at[0] + 1,
                     " for both");
    }
    if (layout.header && !records.next(record)) {
      return;
    }
    do {
      if (fits(record, layout)) {
        add({record.cells[layout.at[0]], record.cells[layout.at[1]]}, record.line);
      }
    } while (records.next(record));
  }

 private:
  const char* separator() const { return kind_ == TableKind::csv ? "a comma" : "a tab"; }

  Layout layout_of(const Record& first) const {
    const auto& [a, b] = columns_;
    if (is_column_number(a.name) && is_column_number(b.name)) {
      const auto number = [&](const RowColumn& column) {
        const auto value = static_cast<size_t>(std::stoul(column.name));
        require<ConfigError>(value >= 1, "data.", column.role,
                             ": expected a name, or a number of a column from 1, got ", value);
        return value - 1;
      };
      return {{number(a), number(b)}, 0, false};
    }
    if (a.name.empty() && b.name.empty() && !has_roles(first)) {
      return {};
    }
    return {{find(first, a), find(first, b)}, first.cells.size(), true};
  }

  bool has_roles(const Record& first) const {
    return std::all_of(columns_.begin(), columns_.end(), [&](const RowColumn& column) {
      return std::any_of(first.cells.begin(), first.cells.end(),
                         [&](std::string_view cell) { return same_word(cell, column.role); });
    });
  }

  // The column of this name in the header.
  size_t find(const Record& header, const RowColumn& column) const {
    const std::string& name = column.name.empty() ? column.role : column.name;
    std::vector<std::string> names;
    std::string list;
    size_t found = header.cells.size(), times = 0;
    for (size_t i = 0; i < header.cells.size(); ++i) {
      const std::string_view cell = header.cells[i];
      if (column.name.empty() ? same_word(cell, name) : cell == name) {
        found = i;
        ++times;
      }
      names.emplace_back(cell);
      list += (list.empty() ? "" : ", ") + printable(cell);
    }
    if (times != 1) {
      const std::string near = times == 0 ? nearest(name, names) : "";
      fail<RowError>(mistakes_.file(), ":", header.line, ": expected a column ", printable(name),
                     " for data.", column.role, " in this header, got ",
                     times > 1 ? "several" : printable(list, 200),
                     near.empty() ? "" : "; did you mean " + printable(near) + "?");
    }
    return found;
  }

  bool fits(const Record& record, const Layout& layout) {
    const size_t count = record.cells.size();
    const size_t needed =
        layout.count > 0 ? layout.count : 1 + std::max(layout.at[0], layout.at[1]);
    if (count == needed || (layout.count == 0 && count > needed)) {
      return true;
    }
    const std::string both = columns_[0].role + " and " + columns_[1].role;
    if (layout.header || layout.count == 0) {
      mistakes_.add(record.line, "expected ", layout.count == 0 ? "at least " : "", needed,
                    " columns", layout.header ? ", as the header has" : "", ", got ", count);
    } else if (count == 1) {
      mistakes_.add(record.line, "expected ", separator(), " between ", both, ", got ",
                    instead(record.cells[0]));
    } else {
      mistakes_.add(record.line, "expected two columns, ", both, ", got ", count, " (data.",
                    columns_[0].role, " and data.", columns_[1].role,
                    " name columns of a header, or number them: \"1\")");
    }
    return false;
  }

  // What separates the columns of a line that is one cell.
  std::string instead(std::string_view cell) const {
    if (kind_ == TableKind::csv) {
      return cell.find('\t') != std::string_view::npos  ? "a tab; name a file with tabs *.tsv"
             : cell.find(';') != std::string_view::npos ? "a semicolon"
                                                        : "none";
    }
    return cell.find(',') != std::string_view::npos && cell.find(' ') == std::string_view::npos
               ? "a comma; name a file with commas *.csv"
               : "none";
  }

  const TableKind kind_;
  const std::array<RowColumn, 2>& columns_;
  RowMistakes& mistakes_;
};

}  // namespace

void read_table(std::span<char> text, TableKind kind, const std::array<RowColumn, 2>& columns,
                RowMistakes& mistakes, const AddRow& add) {
  std::unique_ptr<RecordReader> records;
  if (kind == TableKind::csv) {
    records = std::make_unique<CsvReader>(text, mistakes);
  } else {
    records = std::make_unique<TsvReader>(text, mistakes);
  }
  TableReader(kind, columns, mistakes).read(*records, add);
}

}  // namespace heed
