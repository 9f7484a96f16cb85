// JSON lines: an object each line, with the two cells under their keys.
#pragma once

#include <span>

#include "train/wings/own_data/rows/table.h"
#include "train/wings/own_data/rows/text_rows.h"

namespace heed {

// Calls add(cells, line) for each object. Its cells are written, unescaped, over its line in
// `text`: both are within it, with their quotes.
void read_json_lines(std::span<char> text, const std::array<RowColumn, 2>& columns,
                     RowMistakes& mistakes, const AddRow& add);

// The cells of one object, in the order of `columns`. Returns "" or what is wrong with it.
std::string read_json_object(std::string_view text, std::span<const RowColumn> columns,
                             std::vector<std::string>& cells);

}  // namespace heed
