// Attention heat maps as a picture: SVG with the names of the tokens, or PNG without them.
#pragma once

#include <string>
#include <vector>

#include "tools/wings/pages/attention_maps.h"

namespace heed::cli {

// One head of a layer.
struct MapPicture {
  std::string title;                 // "layer 0, trf_blocks.0.att, head 1"
  std::vector<std::string> queries;  // T names of rows
  std::vector<std::string> keys;     // S names of columns
  std::vector<real> weights;         // (T, S), from 0 to 1
};

// All maps one below the other, on a white ground; a weight is a square with a tooltip.
std::string maps_as_svg(const std::vector<MapPicture>& maps);

// The same squares in the same colours as an image of 8 bits a channel: 8 x 8 pixels a weight. No
// names: heed draws no letters. Only if has_png() (png.h).
std::string maps_as_png(const std::vector<MapPicture>& maps);

}  // namespace heed::cli
