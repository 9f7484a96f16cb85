// Attention heat maps as a picture: SVG with the names of the tokens, or PNG without them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "autograd/base/error.h"
#include "tools/wings/pages/attention_maps.h"

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

// The maps of all heads one below the other, on a white ground; a weight is a square with a
// tooltip.
std::string maps_as_svg(const std::vector<ShownLayer>& layers);

// The same squares in the same colours as an image of 8 bits a channel: 8 x 8 pixels a weight. No
// names: heed draws no letters. Only if has_png() (png.h).
std::string maps_as_png(const std::vector<ShownLayer>& layers);

}  // namespace heed::cli
