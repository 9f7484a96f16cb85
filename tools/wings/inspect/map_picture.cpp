#include "tools/wings/inspect/map_picture.h"

#include <algorithm>

#include "layers/text/formatted.h"
#include "tools/wings/inspect/png.h"
#include "tools/wings/pages/svg.h"

namespace heed::cli {

namespace {

real weight_at(const MapPicture& map, size_t row, size_t column) {
  return map.weights[row * map.keys.size() + column];
}

constexpr int square = 20;

// One map at the height `top`; returns where the next begins.
double add_map(const MapPicture& map, double top, double left, std::string& out) {
  const double head = top + 24 + name_pixels(map.keys);
  const auto x = [&](size_t column) { return left + square * static_cast<double>(column); };
  const auto y = [&](size_t row) { return head + square * static_cast<double>(row); };
  out += text("<text x=\"8\" y=\"", top + 16, "\" font-size=\"14\" font-weight=\"600\">",
              svg_text(map.title), "</text>\n");
  for (size_t s = 0; s < map.keys.size(); ++s) {
    out += text("<text transform=\"translate(", x(s) + 14, " ", head - 5, ") rotate(-90)\">",
                svg_text(map.keys[s]), "</text>\n");
  }
  for (size_t t = 0; t < map.queries.size(); ++t) {
    out += text("<text x=\"", left - 6, "\" y=\"", y(t) + 14, "\" text-anchor=\"end\">",
                svg_text(map.queries[t]), "</text>\n");
    for (size_t s = 0; s < map.keys.size(); ++s) {
      const auto weight = static_cast<double>(weight_at(map, t, s));
      out += text("<rect x=\"", x(s), "\" y=\"", y(t), "\" width=\"", square, "\" height=\"",
                  square, "\" fill=\"", hex(color_of_weight(weight)), "\"><title>",
                  svg_text(map.queries[t]), " attends to ", svg_text(map.keys[s]), ": ",
                  formatted("%.3f", weight), "</title></rect>\n");
    }
  }
  return y(map.queries.size()) + 20;
}

}  // namespace

std::string maps_as_svg(const std::vector<MapPicture>& maps) {
  double width = 0, left = 0;
  for (const MapPicture& map : maps) {
    left = std::max(left, name_pixels(map.queries) + 8);
  }
  std::string body;
  double top = 8;
  for (const MapPicture& map : maps) {
    top = add_map(map, top, left, body);
    width = std::max({width, left + square * static_cast<double>(map.keys.size()) + 12,
                      8.5 * static_cast<double>(map.title.size()) + 16});
  }
  return text("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", width, "\" height=\"", top,
              "\" viewBox=\"0 0 ", width, " ", top,
              "\" font-family=\"DejaVu Sans, sans-serif\" font-size=\"12\" fill=\"#1d1c1a\">\n",
              "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n", body, "</svg>\n");
}

std::string maps_as_png(const std::vector<MapPicture>& maps) {
  constexpr size_t side = 8, spacing = 8;  // pixels
  size_t width = 0, height = spacing;
  for (const MapPicture& map : maps) {
    width = std::max(width, side * map.keys.size() + 2 * spacing);
    height += side * map.queries.size() + spacing;
  }
  std::vector<uint8_t> pixels(3 * width * height, 0xff);
  size_t top = spacing;
  for (const MapPicture& map : maps) {
    const size_t columns = map.keys.size(), rows = map.queries.size();
    for (size_t i = 0; i < rows * side * columns * side; ++i) {
      const size_t y = i / (columns * side), x = i % (columns * side);
      const Color color = color_of_weight(static_cast<double>(weight_at(map, y / side, x / side)));
      std::copy(color.begin(), color.end(),
                pixels.begin() + static_cast<ptrdiff_t>(3 * ((top + y) * width + spacing + x)));
    }
    top += rows * side + spacing;
  }
  return png_of(pixels, static_cast<int>(width), static_cast<int>(height));
}

}  // namespace heed::cli
