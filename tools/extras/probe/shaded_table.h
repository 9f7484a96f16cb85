// A table on a terminal whose cells are coloured by a number.
#pragma once

#include <string>
#include <vector>

#include "tools/extras/report/pages/heat_map.h"

namespace heed::cli {

struct ShadedCell {
  std::string text;
  double value = 0;  // from -1 to 1, as heat_color()
};

// Rows with their names in front, columns with theirs above, aligned to the right; each text is
// made printable. Where a row has no cell, it is blank. Without colour, a character shades a cell.
std::string shaded_table(const std::vector<std::string>& rows,
                         const std::vector<std::string>& columns,
                         const std::vector<std::vector<ShadedCell>>& cells,
                         const HeatMapStyle& style);

}  // namespace heed::cli
