// Text output: aligned columns and readable numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heed::cli {

enum class Align { left, right };

// Columns separated by two blanks; the last one is not padded. Widths are those of a terminal.
class Table {
 public:
  explicit Table(std::vector<Align> columns) : columns_(std::move(columns)) {}

  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  // The table as lines, each ending in a newline.
  std::string text(const std::string& indent = "") const;

 private:
  std::vector<Align> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// `text` cut to at most `width` columns, ending in "..." if it was longer.
std::string shortened(const std::string& text, size_t width);

std::string scientific(double number);  // "3.1e-09"

}  // namespace heed::cli
