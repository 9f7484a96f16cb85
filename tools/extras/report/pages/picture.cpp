#include "tools/extras/report/pages/picture.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace heed {

std::optional<PatchGrid> patch_grid(const Input& shown, int64_t tokens) {
  if (shown.x.rank() != 4) {
    return {};
  }
  const int64_t height = shown.x.dim(2), width = shown.x.dim(3);
  for (const bool class_token : {false, true}) {
    for (int64_t side = 1; side <= std::min(height, width); ++side) {
      const PatchGrid grid{height / side, width / side, side, class_token};
      if (height % side == 0 && width % side == 0 &&
          grid.rows * grid.columns + (class_token ? 1 : 0) == tokens) {
        return grid;
      }
    }
  }
  return {};
}

std::vector<double> brightness(const Array& picture) {
  const int64_t channels = picture.dim(1), pixels = picture.dim(2) * picture.dim(3);
  std::vector<double> values(static_cast<size_t>(pixels), 0);
  for (int64_t i = 0; i < channels * pixels; ++i) {
    values[static_cast<size_t>(i % pixels)] += static_cast<double>(picture.data()[i]);
  }
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double least = *low, range = std::max(*high - least, 1e-12);
  for (double& value : values) value = (value - least) / range;
  return values;
}

std::optional<ShownPicture> shown_picture(const Input& shown, int64_t tokens) {
  constexpr int64_t most_pixels = 1 << 16;
  const std::optional<PatchGrid> grid = patch_grid(shown, tokens);
  if (!grid || shown.x.dim(2) * shown.x.dim(3) > most_pixels) {
    return {};
  }
  ShownPicture picture{shown.x.dim(2), shown.x.dim(3), grid->side, grid->class_token, {}};
  for (const double value : brightness(shown.x.value())) {
    picture.pixels.push_back(static_cast<uint8_t>(std::lround(255 * value)));
  }
  return picture;
}

std::string to_json(const ShownPicture& picture) {
  return nlohmann::ordered_json{{"height", picture.height},
                                {"width", picture.width},
                                {"side", picture.side},
                                {"class_token", picture.class_token},
                                {"pixels", picture.pixels}}
      .dump();
}

}  // namespace heed
