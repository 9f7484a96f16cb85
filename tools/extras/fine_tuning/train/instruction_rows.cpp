#include "tools/extras/fine_tuning/train/instruction_rows.h"

#include <algorithm>
#include <array>

#include "layers/text/display.h"
#include "layers/text/utf8.h"
#include "tools/extras/own_data/train/json_lines.h"

namespace heed {

namespace {

const std::array<RowColumn, 3> instruction_columns{
    RowColumn{.role = "instruction", .also = " prompt question "},
    RowColumn{.role = "input", .is_optional = true, .also = " context "},  // Dolly's
    RowColumn{.role = "output", .also = " completion response answer "}};

// "" or why the input would be lost.
std::string unused_input(const Instruction& row, const PromptTemplate& form) {
  return row.input.empty() || form.takes_input()
             ? ""
             : text("expected no input, as data.template has no {input}, got ",
                    printable(row.input));
}

Instruction instruction_of(const std::vector<std::string>& cells) {
  return {cells[0], without_blanks(cells[1]).empty() ? "" : cells[1]};
}

class InstructionReader {
 public:
  InstructionReader(const std::filesystem::path& path, const PromptTemplate& form)
      : name_(path.filename().string()), mistakes_(path.string()), form_(form) {}

  TextRows read(std::string_view all) {
    const size_t first = all.find_first_not_of(" \t\r\n");
    if (first != std::string_view::npos && all[first] == '[') {
      read_list(all, first);
    } else {
      read_lines(all);
    }
    mistakes_.throw_if_any();
    if (rows_.empty()) mistakes_.refuse("expected examples, got none");
    const std::string unused = listed({unused_.begin(), unused_.end()});
    return {.rows = std::move(rows_),
            .warning = unused.empty() ? "" : name_ + ": no part of the template has " + unused};
  }

 private:
  void read_lines(std::string_view all) {
    TableReader lines(all, whole_lines, mistakes_);
    for (Record line; lines.next(line);) {
      if (!without_blanks(line.cells[0]).empty()) add(line.cells[0], line.line, "");
    }
  }

  // The elements of a list are found by brackets and quotes alone, so that a mistake in one of them
  // has its line, and those after it are read too.
  void read_list(std::string_view all, size_t opened) {
    int64_t above = 0;
    const std::string wrong = wrong_bytes(all, above);
    if (!wrong.empty()) {
      mistakes_.add(above + 1, wrong);
      return;
    }
    int64_t line = 1 + std::count(all.begin(), all.begin() + static_cast<ptrdiff_t>(opened), '\n');
    int64_t last_line = 0, element = 0;
    bool closed = false;
    size_t at = opened + 1;
    while (!closed && at < all.size()) {
      const size_t begin = std::min(all.find_first_not_of(" \t\r\n", at), all.size());
      line += std::count(all.begin() + static_cast<ptrdiff_t>(at),
                         all.begin() + static_cast<ptrdiff_t>(begin), '\n');
      const size_t end = end_of_element(all, begin);
      closed = end < all.size() && all[end] == ']';
      const std::string_view row = without_blanks(all.substr(begin, end - begin));
      if (row.empty() && closed && element == 0) {
        break;  // []
      }
      ++element;
      // Of several elements in one line, the number tells which.
      const std::string which = line == last_line ? text("element ", element, ": ") : "";
      last_line = line;
      if (end == all.size()) {
        mistakes_.add(line, which, "expected ] at the end of the list, got the end of the file");
        return;
      }
      add(row, line, which);
      line += std::count(all.begin() + static_cast<ptrdiff_t>(begin),
                         all.begin() + static_cast<ptrdiff_t>(end), '\n');
      at = end + 1;
    }
    require_end(all, at, line);
  }

  // The position of the comma or bracket that ends an element of the list.
  static size_t end_of_element(std::string_view all, size_t at) {
    int64_t depth = 0;
    for (bool in_string = false; at < all.size(); ++at) {
      const char c = all[at];
      if (in_string) {
        at += c == '\\' ? 1 : 0;
        in_string = c != '"';
      } else if (c == '"') {
        in_string = true;
      } else if (c == '{' || c == '[') {
        ++depth;
      } else if (depth == 0 && (c == ',' || c == ']')) {
        return at;
      } else if (c == '}' || c == ']') {
        --depth;
      }
    }
    return all.size();
  }

  void require_end(std::string_view all, size_t closing, int64_t line) {
    const std::string_view rest = without_blanks(all.substr(std::min(closing, all.size())));
    if (!rest.empty() && rest != "]") {
      mistakes_.add(line, "expected the end of the file after the list, got ",
                    printable(rest.substr(0, rest.find('\n'))));
    }
  }

  void add(std::string_view row, int64_t line, const std::string& which) {
    std::string wrong = row.empty()
                            ? "expected a JSON object, got nothing"
                            : read_json_object(row, instruction_columns, cells_of_row_, &unused_);
    if (wrong.find("got messages") != std::string::npos ||
        wrong.find("got conversations") != std::string::npos) {
      wrong += "; a conversation has to be written as such rows, one for each turn";
    }
    const Instruction asked = wrong.empty() ? instruction_of(cells_of_row_) : Instruction{};
    const std::string output = wrong.empty() ? cells_of_row_[2] : "";
    for (const std::string& next : {wrong_text(asked.instruction, "instruction"),
                                    wrong_text(output, "output"), unused_input(asked, form_)}) {
      wrong = wrong.empty() ? next : wrong;
    }
    if (wrong.empty()) {
      rows_.push_back({{form_.fill(asked), output}, line});
    } else {
      mistakes_.add(line, which, wrong);
    }
  }

  const std::string name_;
  RowMistakes mistakes_;
  const PromptTemplate& form_;
  std::set<std::string> unused_;           // keys
  std::vector<std::string> cells_of_row_;  // instruction, input, output
  std::vector<TextRow> rows_;
};

}  // namespace

TextRows read_instructions(std::string_view bytes, const std::filesystem::path& path,
                           const PromptTemplate& form) {
  const std::string extension = in_lower_case(path.extension().string());
  require<ConfigError>(
      extension == ".json" || extension == ".jsonl" || extension == ".ndjson", path.string(),
      ": expected a file named *.json (a list of objects) or *.jsonl (an object each line), got ",
      extension.empty() ? "no extension" : printable(extension));
  return InstructionReader(path, form).read(without_byte_order_mark(bytes));
}

Instruction read_prompt(const std::string& prompt, const PromptTemplate& form) {
  Instruction asked{prompt, ""};
  if (prompt.starts_with("{\"")) {
    std::vector<std::string> cells;
    std::set<std::string> unused;
    std::array<RowColumn, 3> columns = instruction_columns;
    columns[2].is_optional = true;
    const std::string wrong = read_json_object(prompt, columns, cells, &unused);
    require<ConfigError>(wrong.empty(), "a prompt that begins with {\" is a row: ", wrong);
    require<ConfigError>(unused.empty(),
                         "a prompt that begins with {\" is a row: expected the keys ",
                         "instruction and input, got ", listed({unused.begin(), unused.end()}));
    asked = instruction_of(cells);
  }
  for (const std::string& wrong :
       {wrong_text(asked.instruction, "instruction"), unused_input(asked, form)}) {
    require<ConfigError>(wrong.empty(), wrong);
  }
  return asked;
}

}  // namespace heed
