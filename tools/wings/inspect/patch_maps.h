// Attention over a picture: how much of a head's attention each patch gets, laid over the pixels.
#pragma once

#include <string>
#include <vector>

#include "tools/wings/inspect/map_picture.h"
#include "tools/wings/pages/heat_map.h"
#include "tools/wings/pages/picture.h"

namespace heed::cli {

// The attention that each patch gets, row by row: from the class token or, without one, the mean
// over all patches that look.
std::vector<double> attention_on_patches(const AttentionMap& map, int64_t head,
                                         const PatchGrid& grid);

// The picture and, next to it, the patches of each head; the patch that gets most is the darkest
// (in colour the brightest), and its share stands below.
std::string patch_maps_text(const Array& picture, const ShownLayer& layer, const PatchGrid& grid,
                            const HeatMapStyle& style);

// The same as a picture: a row for each layer, with a tooltip for each patch.
std::string patch_maps_as_svg(const Array& picture, const std::vector<ShownLayer>& layers,
                              const PatchGrid& grid);

}  // namespace heed::cli
