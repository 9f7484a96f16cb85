// Pictures that a model cuts into patches, for maps that lie over their pixels.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "layers/module/input.h"

namespace heed {

// How a picture was cut: `rows` times `columns` patches, side x side pixels each, perhaps with a
// class token in front of them.
struct PatchGrid {
  int64_t rows = 0, columns = 0, side = 0;
  bool class_token = false;
};

// How a model that attends to `tokens` cut a picture (1, C, H, W); nullopt if it did not cut it
// into squares, or if the input is no picture.
std::optional<PatchGrid> patch_grid(const Input& shown, int64_t tokens);

// The brightness of each pixel, the mean over the channels of a picture (1, C, H, W), from 0 for
// the lowest to 1 for the highest.
std::vector<double> brightness(const Array& picture);

// A picture as a page shows it (picture.js).
struct ShownPicture {
  int64_t height = 0, width = 0, side = 0;
  bool class_token = false;
  std::vector<uint8_t> pixels = {};  // their brightness, row by row
};

// What a model of so many tokens has read; nullopt as patch_grid(), or if it is too large.
std::optional<ShownPicture> shown_picture(const Input& shown, int64_t tokens);
// A JSON object of these fields.
std::string to_json(const ShownPicture& picture);

}  // namespace heed
