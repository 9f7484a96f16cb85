// Attention over a picture: how much of a head's attention each patch gets, laid over the pixels.
#pragma once

#include <string>
#include <vector>

#include "tools/extras/inspect/map_picture.h"
#include "tools/extras/report/pages/picture.h"

namespace heed::cli {

// The attention that each patch gets, row by row: from the class token or, without one, the mean
// over all patches that look.
std::vector<double> attention_on_patches(const AttentionMap& map, int64_t head,
                                         const PatchGrid& grid);

// An SVG with a row for each layer: the picture and, next to it, the patches of each head, with a
// tooltip for each; the share of the one that gets most stands below.
std::string patch_maps_as_svg(const Array& picture, const std::vector<ShownLayer>& layers,
                              const PatchGrid& grid);

}  // namespace heed::cli
