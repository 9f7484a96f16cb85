// Attention heat maps on a terminal.
#pragma once

#include <optional>
#include <string>

#include "tools/extras/report/pages/attention_maps.h"

namespace heed::cli {

struct HeatMapStyle {
  bool color = false;   // 256 colours; otherwise characters, " .:-=+*#%@" from 0 to 1
  int64_t width = 100;  // of a line, in columns; shows as many heads side by side as fit
};

// The terminal's width. Colour if standard output is a terminal that supports it and NO_COLOR is
// not set.
HeatMapStyle style_of_terminal();

// All heads of a layer, or one of them (from 0): one row per query, one column per key, both with
// names; in a causal layer hatching for the keys that come later. Of more than 20 queries, in
// colour, two share a line and its name: "F r".
std::string heat_map_text(const AttentionMap& map, const HeatMapStyle& style,
                          std::optional<int64_t> head = {});

// One weight, from -1 to 1, two columns wide.
std::string heat_cell(double weight, bool color);

// The colour for a value from -1 to 1, a number of the 256-colour palette: the farther from 0, the
// darker, below 0 red. Text is dark on values up to 0.5 from 0, and light on the others.
int heat_color(double value);

// True if every weight above the diagonal is 0, of all heads: no query sees what comes later.
bool is_causal(const AttentionMap& map);

// A legend in one line: which cell means which weight.
std::string heat_map_scale(const HeatMapStyle& style, bool has_future);

}  // namespace heed::cli
