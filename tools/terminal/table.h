// Output of commands: aligned columns, readable numbers, JSON.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace heed::cli {

enum class Align { left, right };

// Columns separated by two blanks; the last one is not padded. Widths are those of a terminal.
class Table {
 public:
  explicit Table(std::vector<Align> columns) : columns_(std::move(columns)) {}

  void add(std::vector<std::string> row);  // each cell is made printable
  // The table as lines, each ending in a newline.
  std::string text(const std::string& indent = "") const;

 private:
  std::vector<Align> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// Prints a message and a newline. Names in it cannot steer the terminal (printable_lines), whose
// lines are broken as by print_text. Lines for a shell, which begin with two blanks, stay whole.
void print_line(std::FILE* to, std::string_view line, const char* style = "");
void print_lines(std::FILE* to, const std::vector<std::string>& lines);

// Prints text to standard output, broken between words where the terminal is narrower (fitted.h).
// Names in it cannot steer the terminal.
void print_text(std::string_view text);

// Prints one JSON object, as --json does: a line on standard output, in ASCII. Bytes that are no
// UTF-8 are replaced.
template <class Json>
void print_object(const Json& object) {
  std::printf("%s\n", object.dump(-1, ' ', true, Json::error_handler_t::replace).c_str());
}

// `text` cut to at most `width` columns, ending in "..." if it was longer.
std::string shortened(const std::string& text, size_t width);

// `text` with blanks up to `width` columns.
std::string padded(const std::string& text, size_t width);

}  // namespace heed::cli
