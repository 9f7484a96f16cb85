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

}  // namespace heed
