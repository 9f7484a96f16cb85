#include "tools/extras/own_data/train/columns.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <unordered_map>

#include "layers/text/display.h"

namespace heed {

namespace {

bool is_column_number(const std::string& name) {
  return !name.empty() && name.size() < 5 &&
         std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return std::isdigit(c) != 0; });
}

size_t column_number(const RowColumn& column) {
  const auto value = static_cast<size_t>(std::stoul(column.name));
  require<ConfigError>(value >= 1, "data.", column.role,
                       ": expected a name, or a number of a column from 1, got ", value);
  return value - 1;
}

bool same_word(const std::string& a, const std::string& b) {
  return in_lower_case(a) == in_lower_case(b);
}

// What people call the columns of a role.
bool is_usual(const std::string& name, const std::string& role) {
  static const std::map<std::string, std::vector<std::string>> names{
      {"text", {"review", "sentence", "content", "message", "comment", "tweet", "document"}},
      {"label", {"sentiment", "class", "category", "target", "topic", "rating", "intent"}},
      {"source", {"src", "input", "question", "prompt", "instruction"}},
      {"target", {"tgt", "output", "answer", "response", "translation", "completion"}}};
  const auto usual = names.find(role);
  return usual != names.end() &&
         std::any_of(usual->second.begin(), usual->second.end(),
                     [&](const std::string& one) { return same_word(name, one); });
}

bool is_name_for(const RowColumn& column, const std::string& name) {
  return same_word(name, column.role) || is_usual(name, column.role);
}

// "data.text: NAME, data.label: NAME"
std::string naming(std::span<const RowColumn> columns, const std::string& a, const std::string& b) {
  return text("data.", columns[0].role, ": ", a, ", data.", columns[1].role, ": ", b);
}

}  // namespace

bool TableColumns::takes(const Record& record) {
  if (first_.empty()) {
    choose(record);
    if (way_ == Way::header) return false;
  }
  const size_t count = record.cells.size();
  const bool by_number = way_ == Way::numbers;
  const size_t needed = way_ == Way::header ? first_.size() : 1 + std::max(at_[0], at_[1]);
  if (count == needed || (by_number && count > needed)) return true;
  const std::string both = columns_[0].role + " and " + columns_[1].role;
  if (way_ != Way::order) {
    mistakes_.add(record.line, "expected ", by_number ? "at least " : "", needed, " columns",
                  by_number ? "" : ", as the header has", ", got ", count);
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

void TableColumns::choose(const Record& first) {
  for (const std::string& cell : first.cells) first_.emplace_back(without_blanks(cell));
  first_line_ = first.line;
  const RowColumn &a = columns_[0], &b = columns_[1];
  const bool looks_like_header = !usual_name(a).empty() && !usual_name(b).empty();
  if (is_column_number(a.name) && is_column_number(b.name)) {
    way_ = Way::numbers;
    at_ = {column_number(a), column_number(b)};
  } else if (looks_like_header || !a.name.empty() || !b.name.empty()) {
    way_ = Way::header;
    at_ = {find(a), find(b)};
    mistakes_.throw_if_any();
  }
  if (way_ == Way::order && first_.size() > 2) refuse_more_than_two();
  require<RowError>(at_[0] != at_[1], mistakes_.file(), ":", first_line_,
                    ": expected two columns, ", a.role, " and ", b.role, ", got number ",
                    at_[0] + 1, " for both");
  require<RowError>(way_ == Way::header || !looks_like_header, mistakes_.file(), ":", first_line_,
                    ": expected an example, as columns by number have no header, got one; leave ",
                    "out data.", a.role, " and data.", b.role, ", or this line");
}

std::string TableColumns::usual_name(const RowColumn& column) const {
  const auto found = std::find_if(first_.begin(), first_.end(), [&](const std::string& name) {
    return is_name_for(column, name);
  });
  return found == first_.end() ? "" : *found;
}

// The column of this name in the header.
size_t TableColumns::find(const RowColumn& column) const {
  const std::string& name = column.key();
  const auto is_role = [&](const std::string& cell) { return same_word(cell, name); };
  const bool has_role = std::any_of(first_.begin(), first_.end(), is_role);
  const auto is_meant = [&](const std::string& cell) {
    return !column.name.empty() ? cell == without_blanks(name)
           : has_role           ? is_role(cell)
                                : is_usual(cell, name);
  };
  const auto times = std::count_if(first_.begin(), first_.end(), is_meant);
  if (times != 1) {
    std::string near = times == 0 ? nearest(name, first_) : "";
    if (times == 0 && near.empty()) near = usual_name(column);
    mistakes_.add(first_line_, "expected a column ", printable(name), " for data.", column.role,
                  " in this header, got ", times > 1 ? "several" : printable(listed(first_), 200),
                  near.empty() ? "" : "; did you mean " + printable(near) + "?");
    return 0;
  }
  return static_cast<size_t>(std::find_if(first_.begin(), first_.end(), is_meant) - first_.begin());
}

std::string TableColumns::separator() const {
  return separator_ == ','    ? "a comma"
         : separator_ == '\t' ? "a tab"
                              : std::string{'"', separator_, '"'};
}

// What separates the columns of a line that is one cell.
std::string TableColumns::instead(std::string_view cell) const {
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

void TableColumns::refuse_more_than_two() const {
  const auto name_for = [&](const RowColumn& column) {
    const std::string name = usual_name(column);
    return name.empty() ? "NAME" : printable(name);
  };
  const RowColumn &a = columns_[0], &b = columns_[1];
  fail<RowError>(mistakes_.file(), ":", first_line_, ": expected two columns, ", a.role, " and ",
                 b.role, ", got ", first_.size(), ": ", printable(listed(first_), 200),
                 "; choose with ", naming(columns_, name_for(a), name_for(b)),
                 ", or by number without a header: data.", a.role, ": \"2\"");
}

// Labels repeat; texts do not, nor does the name of a column.
void TableColumns::require_no_header(std::span<const TextRow> rows) const {
  constexpr size_t least = 5;  // with fewer rows, many labels come once
  if (first_.empty() || way_ != Way::order || !columns_[1].is_label || rows.size() < least) return;
  std::unordered_map<std::string_view, size_t> counts, inputs;
  for (const TextRow& row : rows) ++inputs[row.cells[0]], ++counts[row.cells[1]];
  require<RowError>(counts.size() < rows.size() && counts.size() <= inputs.size(), mistakes_.file(),
                    ": expected labels that several lines have, got ", counts.size(),
                    " different ones in ", rows.size(),
                    " lines; if the label comes first: ", naming(columns_, "\"2\"", "\"1\""),
                    "; else: ", naming(columns_, "\"1\"", "\"2\""));
  const auto once = std::count_if(counts.begin(), counts.end(),
                                  [](const auto& label) { return label.second == 1; });
  const auto& [input, label] = rows[0].cells;
  require<RowError>(once != 1 || counts.at(label) != 1, mistakes_.file(), ":", rows[0].line,
                    ": expected a label that another line has too, got ", printable(label),
                    "; if this line is a header: ",
                    naming(columns_, printable(without_blanks(input)), printable(label)),
                    "; else: ", naming(columns_, "\"1\"", "\"2\""));
}

std::string TableColumns::in_words() const {
  const auto column = [&](size_t k) {
    return text(columns_[k].role, way_ == Way::header ? " is " + printable(first_[at_[k]])
                                                      : text(" is column ", at_[k] + 1));
  };
  return first_.empty()
             ? ""
             : text(column(0), ", ", column(1), way_ == Way::header ? "" : "; there is no header");
}

}  // namespace heed
