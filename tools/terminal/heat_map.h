// Attention weights on a terminal.
#pragma once

#include <string>

#include "train/report/attention_maps.h"

namespace heed::cli {

struct HeatMapStyle {
  bool color = false;   // cells in 256 colours; else in characters, " .:-=+*#%@" from 0 to 1
  int64_t width = 100;  // of a line; as many heads stand side by side as fit
};

// Colour if standard output is a terminal that has it and NO_COLOR is not set; its width.
HeatMapStyle style_of_terminal();

// All heads of a layer: a row for each query, a column for each key, names on both axes.
std::string heat_map_text(const AttentionMap& map, const HeatMapStyle& style);

// One line that says which cell stands for which weight.
std::string heat_map_scale(const HeatMapStyle& style);

}  // namespace heed::cli
