// Attention maps as pictures.
#include "tools/wings/inspect/map_picture.h"

#include <doctest/doctest.h>

#include "tests/support/run_program.h"
#include "tools/wings/inspect/png.h"

#ifdef HEED_STB
#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#define STBI_NO_STDIO
#include <stb_image.h>
#endif

using namespace heed;
using namespace heed::cli;
using namespace heed::testing;

namespace {

const AttentionMap shown_map{"att",
                             false,
                             {"<a>", "&\x01"},
                             {"x", "y", "\""},
                             Array::from({2, 2, 3}, {0, 1, 0.5, 0.25, 0.75, 0,  //
                                                     0, 1, 0.5, 0.25, 0.75, 0})};
const std::vector<ShownLayer> both_heads{{0, shown_map, {}}};

#ifdef HEED_STB
// The pixels of a PNG, (height, width, 3).
struct Image {
  int width = 0, height = 0;
  std::vector<uint8_t> pixels;
  int red_at(int x, int y) const { return pixels[static_cast<size_t>(3 * (y * width + x))]; }
};

Image image_in(const std::string& png) {
  Image image;
  int channels = 0;
  stbi_uc* const read = stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(png.data()),
                                              static_cast<int>(png.size()), &image.width,
                                              &image.height, &channels, 0);
  REQUIRE(read != nullptr);
  CHECK(channels == 3);
  image.pixels.assign(read, read + 3 * image.width * image.height);
  stbi_image_free(read);
  return image;
}
#endif

}  // namespace

TEST_CASE("map_picture: an SVG with a square for each weight, in which no name is markup") {
  const std::string svg = maps_as_svg(both_heads);
  size_t squares = 0;
  for (size_t at = 0; (at = svg.find("<title>", at)) != std::string::npos; ++at) {
    ++squares;
  }
  CHECK(squares == 12);
  CHECK(contains(svg, ">layer 0, att, head 1</text>"));
  CHECK(contains(maps_as_svg({{0, shown_map, 1}}), "layer 0, att, head 1"));
  CHECK(!contains(maps_as_svg({{0, shown_map, 1}}), "head 0"));
  CHECK(contains(svg, "&lt;a&gt; attends to y: 1.000"));
  CHECK(contains(svg, "fill=\"#22211f\""));  // of 1
  CHECK(contains(svg, "fill=\"#f3f1ea\""));  // of 0
  CHECK(!contains(svg, "<a>"));
  CHECK(svg.find('\x01') == std::string::npos);
}

#ifdef HEED_STB
TEST_CASE("map_picture: a PNG whose size and colours are right") {
  CHECK(has_png());
  const Image image = image_in(maps_as_png(both_heads));
  CHECK(image.width == 3 * 8 + 16);
  REQUIRE(image.height == 2 * (2 * 8 + 8) + 8);
  for (const int top : {8, 8 + 16 + 8}) {
    CHECK(image.red_at(0, top) == 255);        // white around the map
    CHECK(image.red_at(8, top - 1) == 255);    // and above it
    CHECK(image.red_at(8, top) == 243);        // weight 0, from its first pixel
    CHECK(image.red_at(15, top + 7) == 243);   // to its last
    CHECK(image.red_at(16, top) == 34);        // weight 1
    CHECK(image.red_at(24, top) == 139);       // 0.5: halfway
    CHECK(image.red_at(8, top + 8) == 191);    // the second row: 0.25
    CHECK(image.red_at(31, top + 15) == 243);  // its last pixel
    CHECK(image.red_at(32, top + 15) == 255);
  }
}
#endif
