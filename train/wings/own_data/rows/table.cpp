#include "train/wings/own_data/rows/table.h"

#include <algorithm>
#include <cctype>
#include <map>
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

// What people call the columns of a role.
bool is_usual(std::string_view cell, const std::string& role) {
  static const std::map<std::string, std::vector<std::string_view>> names{
      {"text", {"review", "sentence", "content", "message", "comment", "tweet", "document"}},
      {"label", {"sentiment", "class", "category", "target", "topic", "rating", "intent"}},
      {"source", {"src", "input", "question", "prompt", "instruction"}},
      {"target", {"tgt", "output", "answer", "response", "translation", "completion"}}};
  const auto usual = names.find(role);
  return usual != names.end() &&
         std::any_of(usual->second.begin(), usual->second.end(),
                     [&](std::string_view name) { return same_word(cell, name); });
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
  TableReader(char separator, const std::array<RowColumn, 2>& columns, RowMistakes& mistakes)
      : separator_(separator), columns_(columns), mistakes_(mistakes) {}

  TakenColumns read(RecordReader& records, const AddRow& add) {
    Record record;
    if (!records.next(record)) {
      return {};
    }
    const Record first = record;
    const Layout layout = layout_of(record);
    if (layout.at[0] == layout.at[1]) {
      fail<RowError>(mistakes_.file(), ":", record.line, ": expected two columns, ",
                     columns_[0].role, " and ", columns_[1].role, ", got number ", layout.at[0] + 1,
                     " for both");
    }
    if (!layout.header && has_roles(first)) {
      fail<RowError>(mistakes_.file(), ":", first.line, ": expected an example, as columns by ",
                     "number have no header, got one; leave out data.", columns_[0].role,
                     " and data.", columns_[1].role, ", or this line");
    }
    const TakenColumns taken = taken_by(layout, first);
    if (layout.header && !records.next(record)) {
      return taken;
    }
    bool all_alike = true;
    int64_t count = 0;
    do {
      ++count;
      all_alike = all_alike && record.cells.size() == first.cells.size();
      if (fits(record, layout)) {
        add({record.cells[layout.at[0]], record.cells[layout.at[1]]}, record.line);
      }
    } while (records.next(record));
    if (taken.by_order && all_alike && count > 1 && first.cells.size() > layout.count) {
      refuse_more_columns(first);
    }
    return taken;
  }

 private:
  std::string separator() const {
    return separator_ == ','    ? "a comma"
           : separator_ == '\t' ? "a tab"
                                : std::string{'"', separator_, '"'};
  }

  TakenColumns taken_by(const Layout& layout, const Record& first) const {
    const auto column = [&](size_t k) {
      const size_t at = layout.at[k];
      return layout.header
                 ? text(columns_[k].role, " is ", printable(without_blanks(first.cells[at])))
                 : text(columns_[k].role, " is column ", at + 1);
    };
    return {text(column(0), ", ", column(1), layout.header ? "" : "; there is no header"),
            !layout.header && layout.count > 0, !layout.header};
  }

  // One message, where every line has more columns than the two that are expected.
  [[noreturn]] void refuse_more_columns(const Record& first) const {
    std::string list, by_name;
    for (const std::string_view cell : first.cells) {
      list += (list.empty() ? "" : ", ") + printable(without_blanks(cell));
    }
    for (const RowColumn& column : columns_) {
      const auto usual =
          std::find_if(first.cells.begin(), first.cells.end(), [&](std::string_view cell) {
            const std::string_view name = without_blanks(cell);
            return same_word(name, column.role) || is_usual(name, column.role);
          });
      by_name += text(by_name.empty() ? "" : ", ", "data.", column.role, ": ",
                      usual == first.cells.end() ? "NAME" : printable(without_blanks(*usual)));
    }
    fail<RowError>(mistakes_.file(), ":", first.line, ": expected two columns, ", columns_[0].role,
                   " and ", columns_[1].role, ", got ", first.cells.size(), ": ",
                   printable(list, 200), "; choose with ", by_name,
                   ", or by number without a header: data.", columns_[0].role, ": \"2\"");
  }

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
      return std::any_of(first.cells.begin(), first.cells.end(), [&](std::string_view cell) {
        const std::string_view name = without_blanks(cell);
        return same_word(name, column.role) || is_usual(name, column.role);
      });
    });
  }

  // The column of this name in the header.
  size_t find(const Record& header, const RowColumn& column) const {
    const std::string& name = column.name.empty() ? column.role : column.name;
    std::vector<std::string> names;
    std::string list;
    size_t found = header.cells.size(), times = 0;
    const bool has_role =
        std::any_of(header.cells.begin(), header.cells.end(),
                    [&](std::string_view cell) { return same_word(without_blanks(cell), name); });
    for (size_t i = 0; i < header.cells.size(); ++i) {
      const std::string_view cell = without_blanks(header.cells[i]);
      const bool usual = has_role ? same_word(cell, name) : is_usual(cell, name);
      if (column.name.empty() ? usual : cell == without_blanks(name)) {
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
    if (separator_ != '\t') {
      return cell.find('\t') != std::string_view::npos ? "a tab; name a file with tabs *.tsv"
             : cell.find(';') != std::string_view::npos
                 ? "a semicolon; data.separator: \";\" is for such files"
                 : "none";
    }
    return cell.find(',') != std::string_view::npos && cell.find(' ') == std::string_view::npos
               ? "a comma; name a file with commas *.csv"
               : "none";
  }

  const char separator_;
  const std::array<RowColumn, 2>& columns_;
  RowMistakes& mistakes_;
};

}  // namespace

TakenColumns read_table(std::span<char> text, char separator,
                        const std::array<RowColumn, 2>& columns, RowMistakes& mistakes,
                        const AddRow& add) {
  std::unique_ptr<RecordReader> records;
  if (separator == '\t') {
    records = std::make_unique<TsvReader>(text, mistakes);
  } else {
    records = std::make_unique<CsvReader>(text, separator, mistakes);
  }
  return TableReader(separator, columns, mistakes).read(*records, add);
}

}  // namespace heed
