// Attention maps as pictures.
#include "tools/terminal/map_picture.h"

#include <doctest/doctest.h>

#include "tests/support/run_program.h"

using namespace heed;
using namespace heed::cli;
using namespace heed::testing;

namespace {

const MapPicture map{"layer 1", {"<a>", "&\x01"}, {"x", "y", "\""}, {0, 1, 0.5, 0.25, 0.75, 0}};

uint32_t number_at(const std::string& bytes, size_t at) {
  uint32_t number = 0;
  for (size_t i = 0; i < 4; ++i) {
    number = number << 8 | static_cast<uint8_t>(bytes[at + i]);
  }
  return number;
}

}  // namespace

TEST_CASE("map_picture: an SVG with a square for each weight, in which no name is markup") {
  const std::string svg = maps_as_svg({map, map});
  size_t squares = 0;
  for (size_t at = 0; (at = svg.find("<title>", at)) != std::string::npos; ++at) {
    ++squares;
  }
  CHECK(squares == 12);
  CHECK(contains(svg, "&lt;a&gt; attends to y: 1.000"));
  CHECK(contains(svg, "fill=\"#08306b\""));  // of 1
  CHECK(contains(svg, "fill=\"#f4f7fb\""));  // of 0
  CHECK(!contains(svg, "<a>"));
  CHECK(svg.find('\x01') == std::string::npos);
}

TEST_CASE("map_picture: a PNG whose lines, sums and sizes are right") {
  const std::string png = maps_as_png({map, map});
  CHECK(png.substr(0, 8) == "\x89PNG\r\n\x1a\n");
  CHECK(png.substr(12, 4) == "IHDR");
  CHECK(number_at(png, 16) == 3 * 8 + 16);           // pixels a line
  CHECK(number_at(png, 20) == 2 * (2 * 8 + 8) + 8);  // lines
  // IEND is the same in all files.
  CHECK(png.ends_with(std::string("\0\0\0\0IEND\xae\x42\x60\x82", 12)));
  // Behind the header of IDAT, zlib's and that of a block: the filter of line 0 and white pixels.
  const size_t data = 33 + 8 + 2 + 5;
  CHECK(png[data] == 0);
  CHECK(png[data + 1] == '\xff');
  const size_t line = 1 + 3 * 40, first = data + 8 * line + 1 + 3 * 8;
  CHECK(static_cast<uint8_t>(png[first]) == 244);           // weight 0
  CHECK(static_cast<uint8_t>(png[first + 3 * 8]) == 8);     // weight 1
  CHECK(static_cast<uint8_t>(png[first + 3 * 16]) == 126);  // 0.5: halfway
}
