// Tables of text: TSV and CSV.
#pragma once

#include <functional>
#include <span>

#include "train/wings/own_data/rows/text_rows.h"

namespace heed {

enum class TableKind { tsv, csv };

// Calls add(cells, line) for each row of the table. Cells are views into `text`, in which quoted
// ones are unescaped.
using AddRow = std::function<void(std::array<std::string_view, 2> cells, int64_t line)>;
void read_table(std::span<char> text, TableKind kind, const std::array<RowColumn, 2>& columns,
                RowMistakes& mistakes, const AddRow& add);

}  // namespace heed
