// Tables of text: TSV and CSV.
#pragma once

#include <functional>
#include <span>

#include "train/wings/own_data/rows/text_rows.h"

namespace heed {

// Calls add(cells, line) for each row of the table. Cells are views into `text`, in which quoted
// ones are unescaped. `separator`: a tab for a TSV file, any other for a CSV file. Returns which
// columns were taken.
using AddRow = std::function<void(std::array<std::string_view, 2> cells, int64_t line)>;
TakenColumns read_table(std::span<char> text, char separator,
                        const std::array<RowColumn, 2>& columns, RowMistakes& mistakes,
                        const AddRow& add);

}  // namespace heed
