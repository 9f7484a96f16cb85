#include "tools/wings/inspect/map_picture.h"

#include <algorithm>

#include "layers/text/formatted.h"
#include "tools/wings/inspect/png.h"
#include "tools/wings/pages/svg.h"

namespace heed::cli {

namespace {

constexpr int square = 20;

// The weights of one head at the height `top`; returns where the next begins.
double add_map(const std::string& title, const AttentionMap& map, int64_t head, double top,
               double left, std::string& out) {
  const double squares = top + 24 + name_pixels(map.keys);
  const auto x = [&](size_t column) { return left + square * static_cast<double>(column); };
  const auto y = [&](size_t row) { return squares + square * static_cast<double>(row); };
  out += svg_heading(title, top + 16);
  for (size_t s = 0; s < map.keys.size(); ++s) {
    out += text("<text transform=\"translate(", x(s) + 14, " ", squares - 5, ") rotate(-90)\">",
                svg_text(map.keys[s]), "</text>\n");
  }
  for (size_t t = 0; t < map.queries.size(); ++t) {
    out += text("<text x=\"", left - 6, "\" y=\"", y(t) + 14, "\" text-anchor=\"end\">",
                svg_text(map.queries[t]), "</text>\n");
    for (size_t s = 0; s < map.keys.size(); ++s) {
      const auto weight = static_cast<double>(map.row(head, static_cast<int64_t>(t))[s]);
      out += text("<rect x=\"", x(s), "\" y=\"", y(t), "\" width=\"", square, "\" height=\"",
                  square, "\" fill=\"", hex(color_of_weight(weight)), "\"><title>",
                  svg_text(map.queries[t]), " attends to ", svg_text(map.keys[s]), ": ",
                  formatted("%.3f", weight), "</title></rect>\n");
    }
  }
  return y(map.queries.size()) + 20;
}

}  // namespace

std::string maps_as_svg(const std::vector<ShownLayer>& layers) {
  double width = 0, left = 0, top = 8;
  for (const ShownLayer& layer : layers) {
    left = std::max(left, name_pixels(layer.map.queries) + 8);
  }
  std::string body;
  for (const ShownLayer& layer : layers) {
    for (int64_t h = layer.first_head(); h < layer.end_head(); ++h) {
      const std::string title = text(layer.title(), ", head ", h);
      top = add_map(title, layer.map, h, top, left, body);
      width = std::max({width, left + square * static_cast<double>(layer.map.keys.size()) + 12,
                        8.5 * static_cast<double>(title.size()) + 16});
    }
  }
  return svg_page(width, top, body);
}

std::string maps_as_png(const std::vector<ShownLayer>& layers) {
  constexpr size_t side = 8, spacing = 8;  // pixels
  size_t width = 0, height = spacing;
  for (const ShownLayer& layer : layers) {
    const auto heads = static_cast<size_t>(layer.end_head() - layer.first_head());
    width = std::max(width, side * layer.map.keys.size() + 2 * spacing);
    height += heads * (side * layer.map.queries.size() + spacing);
  }
  std::vector<uint8_t> pixels(3 * width * height, 0xff);
  size_t top = spacing;
  for (const ShownLayer& layer : layers) {
    const size_t columns = layer.map.keys.size(), rows = layer.map.queries.size();
    for (int64_t h = layer.first_head(); h < layer.end_head(); ++h) {
      for (size_t i = 0; i < rows * side * columns * side; ++i) {
        const size_t y = i / (columns * side), x = i % (columns * side);
        const real weight = layer.map.row(h, static_cast<int64_t>(y / side))[x / side];
        const Color color = color_of_weight(static_cast<double>(weight));
        std::copy(color.begin(), color.end(),
                  pixels.begin() + static_cast<ptrdiff_t>(3 * ((top + y) * width + spacing + x)));
      }
      top += rows * side + spacing;
    }
  }
  return png_of(pixels, static_cast<int>(width), static_cast<int>(height));
}

}  // namespace heed::cli
