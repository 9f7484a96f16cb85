// Attention laid over a picture.
#include "tools/extras/inspect/patch_maps.h"

#include <doctest/doctest.h>

using namespace heed;
using namespace heed::cli;

namespace {

// A picture of 2 x 4 pixels, and two heads of a model that cut it into two patches.
const Array two_by_four = Array::from({1, 1, 2, 4}, {0, 1, 0, 0,  //
                                                     1, 0, 0, 0});
const AttentionMap of_patches{"trf_blocks.0.att",
                              false,
                              {"1", "2"},
                              {"1", "2"},
                              Array::from({2, 2, 2}, {0.5, 0.5, 0.25, 0.75,  //
                                                      1, 0, 1, 0})};

}  // namespace

TEST_CASE("patch_maps: the mean over all patches, or what the class token looks at") {
  const PatchGrid grid{1, 2, 2, false};
  CHECK(attention_on_patches(of_patches, 0, grid) == std::vector<double>{0.375, 0.625});
  CHECK(attention_on_patches(of_patches, 1, grid) == std::vector<double>{1, 0});
  CHECK(attention_on_patches(of_patches, 0, {1, 1, 2, true}) == std::vector<double>{0.5});
}

TEST_CASE("patch_maps: as a picture, with a tooltip for each patch") {
  AttentionMap own = of_patches;
  own.path = "<own>";
  const std::string svg =
      patch_maps_as_svg(two_by_four, {{0, own, {}}, {1, of_patches, 1}}, {1, 2, 2, false});
  const auto count = [&](const std::string& part) {
    int found = 0;
    for (size_t at = 0; (at = svg.find(part, at)) != std::string::npos; ++at) ++found;
    return found;
  };
  CHECK(count("<use href=\"#picture\"") == 5);  // two pictures, three heads
  CHECK(count("fill=\"rgb(") == 8);
  CHECK(count("fill=\"rgb(108,108,108)\"") == 2);
  CHECK(count("<title>") == 6);
  CHECK(count("<title>row 0, column 1: 0.625</title>") == 1);
  CHECK(count("layer 0, &lt;own&gt;") == 1);
  CHECK(count("head 1: up to 1.000") == 2);
}
