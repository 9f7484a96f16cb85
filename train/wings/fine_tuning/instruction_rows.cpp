#include "train/wings/fine_tuning/instruction_rows.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "layers/text/utf8.h"
#include "train/wings/own_data/rows/json_lines.h"
#include "train/wings/own_data/rows/lines.h"

namespace heed {

namespace {

const std::array<RowColumn, 3> instruction_columns{RowColumn{.role = "instruction"},
                                                   RowColumn{.role = "input", .is_optional = true},
                                                   RowColumn{.role = "output"}};

// "" or what is wrong with the cell of a column.
std::string without_text(const std::string& cell, const std::string& role) {
  return !without_blanks(cell).empty()
             ? ""
             : text("expected text as ", role, ", got ", cell.empty() ? "nothing" : "blanks alone");
}

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
      : mistakes_(path.string()), form_(form) {}

  TextRows read(std::span<char> bytes) {
    const std::string_view all(bytes.data(), bytes.size());
    const size_t first = all.find_first_not_of(" \t\r\n");
    if (first != std::string_view::npos && all[first] == '[') {
      read_list(all, first);
    } else {
      read_lines(bytes);
    }
    mistakes_.throw_if_any();
    if (places_.empty()) {
      mistakes_.refuse("expected examples, got none");
    }
    std::vector<TextRows::Row> rows;
    rows.reserve(places_.size());
    for (const Place& place : places_) {
      const std::string_view cells = std::string_view(cells_.data(), cells_.size())
                                         .substr(place.begin, place.prompt + place.output);
      rows.push_back({{cells.substr(0, place.prompt), cells.substr(place.prompt)}, place.line});
    }
    return TextRows(std::move(cells_), rows);
  }

 private:
  // Where a row is in `cells_`: its prompt and, after it, its output.
  struct Place {
    size_t begin = 0, prompt = 0, output = 0;
    int64_t line = 0;
  };

  void read_lines(std::span<char> bytes) {
    Lines lines(bytes);
    while (const std::optional<Line> line = lines.next()) {
      int64_t above = 0;
      const std::string wrong = wrong_bytes(line->text(), above);
      if (!wrong.empty()) {
        mistakes_.add(line->number, wrong);
      } else if (!without_blanks(line->text()).empty()) {
        add(line->text(), line->number, "");
      }
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
    std::string wrong = row.empty() ? "expected a JSON object, got nothing"
                                    : read_json_object(row, instruction_columns, cells_of_row_);
    const Instruction asked = wrong.empty() ? instruction_of(cells_of_row_) : Instruction{};
    const std::string output = wrong.empty() ? cells_of_row_[2] : "";
    for (const std::string& next : {without_text(asked.instruction, "instruction"),
                                    without_text(output, "output"), unused_input(asked, form_)}) {
      wrong = wrong.empty() ? next : wrong;
    }
    const std::string prompt = wrong.empty() ? form_.fill(asked) : "";
    if (prompt.size() + output.size() > std::numeric_limits<int32_t>::max()) {
      wrong = "expected a row of less than 2 GB";
    }
    if (!wrong.empty()) {
      mistakes_.add(line, which, wrong);
      return;
    }
    places_.push_back({cells_.size(), prompt.size(), output.size(), line});
    cells_.insert(cells_.end(), prompt.begin(), prompt.end());
    cells_.insert(cells_.end(), output.begin(), output.end());
  }

  RowMistakes mistakes_;
  const PromptTemplate& form_;
  std::vector<std::string> cells_of_row_;  // instruction, input, output
  std::vector<char> cells_;
  std::vector<Place> places_;
};

}  // namespace

TextRows read_instructions(std::vector<char> bytes, const std::filesystem::path& path,
                           const PromptTemplate& form) {
  const std::string extension = in_lower_case(path.extension().string());
  require<ConfigError>(
      extension == ".json" || extension == ".jsonl" || extension == ".ndjson", path.string(),
      ": expected a file named *.json (a list of objects) or *.jsonl (an object each line), got ",
      extension.empty() ? "no extension" : printable(extension));
  const std::string_view all(bytes.data(), bytes.size());
  const size_t mark = all.size() - without_byte_order_mark(all).size();
  return InstructionReader(path, form).read(std::span(bytes).subspan(mark));
}

Instruction read_prompt(const std::string& prompt, const PromptTemplate& form) {
  Instruction asked{prompt, ""};
  if (prompt.starts_with("{\"")) {
    std::vector<std::string> cells;
    const std::string wrong =
        read_json_object(prompt, std::span(instruction_columns).first(2), cells);
    require<ConfigError>(wrong.empty(), "a prompt that begins with {\" is a row: ", wrong);
    asked = instruction_of(cells);
  }
  for (const std::string& wrong :
       {without_text(asked.instruction, "instruction"), unused_input(asked, form)}) {
    require<ConfigError>(wrong.empty(), wrong);
  }
  return asked;
}

}  // namespace heed
