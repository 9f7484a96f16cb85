// Attention maps as pictures.
#include "tools/extras/inspect/map_picture.h"

#include <doctest/doctest.h>

#include <array>
#include <sstream>

#include "tests/support/run_program.h"

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

}  // namespace

TEST_CASE("map_picture: an SVG with a square for each weight, in which no name is markup") {
  const std::string svg = maps_as_svg(both_heads);
  size_t squares = 0;
  for (size_t at = 0; (at = svg.find("<title>", at)) != std::string::npos; ++at) {
    ++squares;
  }
  CHECK(squares == 8);  // not of the weights of 0
  CHECK(contains(svg, ">layer 0, att</text>"));
  CHECK(contains(svg, ">head 1</text>"));
  CHECK(contains(maps_as_svg({{0, shown_map, 1}}), "head 1"));
  CHECK(!contains(maps_as_svg({{0, shown_map, 1}}), "head 0"));
  CHECK(contains(svg, "opacity=\"0.25\"><title>&amp;\\x01 attends to x: 0.250"));
  CHECK(contains(svg, "&lt;a&gt; attends to y: 1.000"));
  CHECK(contains(svg, "@media (prefers-color-scheme:dark)"));
  CHECK(!contains(svg, "<a>"));
  CHECK(svg.find('\x01') == std::string::npos);
}

TEST_CASE(
    "map_picture: heads side by side, layer below layer; what a causal layer hides is hatched") {
  const std::vector<std::string> names{"a", "b"};
  const AttentionMap causal{"att", false, names, names,
                            Array::from({2, 2, 2}, {1, 0, 0.5, 0.5,  //
                                                    1, 0, 0.5, 0.5})};
  const std::string svg = maps_as_svg({{0, causal, {}}, {1, causal, {}}});
  const auto place = [&](const std::string& words, size_t from) {
    const size_t end = svg.find(">" + words + "<", from), at = svg.rfind('(', end);
    std::istringstream numbers(svg.substr(at + 1, end - at));
    std::array<double, 2> xy{};
    numbers >> xy[0] >> xy[1];
    return xy;
  };
  const size_t second = svg.find(">layer 1, att<");
  CHECK(place("head 0", 0)[1] == place("head 1", 0)[1]);
  CHECK(place("head 0", 0)[0] + 60 < place("head 1", 0)[0]);
  CHECK(place("head 0", 0)[0] == place("head 0", second)[0]);
  CHECK(place("head 0", 0)[1] + 60 < place("head 0", second)[1]);
  CHECK(contains(svg, "width=\"40\" height=\"40\" fill=\"url(#later)\""));
  CHECK(contains(svg, "width=\"20\" height=\"20\" class=\"field\""));  // row a sees one
}
