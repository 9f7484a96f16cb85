// Attention heat maps as a picture in SVG, with the names of the tokens.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "autograd/base/error.h"
#include "tools/extras/report/pages/attention_maps.h"

namespace heed::cli {

// An attention layer that is shown: all of its heads, or one of them.
struct ShownLayer {
  int64_t number;  // among the maps of the model, from 0
  const AttentionMap& map;
  std::optional<int64_t> head;  // from 0

  std::string title() const { return text("layer ", number, ", ", map.path); }
  // The heads [first_head(), end_head()).
  int64_t first_head() const { return head.value_or(0); }
  int64_t end_head() const { return head ? *head + 1 : map.weights.dim(0); }
};

// The maps of the heads of a layer side by side, layer below layer. What a causal layer hides is
// hatched. A weight above 0.005 is a square with a tooltip; the colours follow the reader's.
std::string maps_as_svg(const std::vector<ShownLayer>& layers);

}  // namespace heed::cli
