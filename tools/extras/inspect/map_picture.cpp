#include "tools/extras/inspect/map_picture.h"

#include <algorithm>

#include "layers/text/formatted.h"
#include "tools/extras/report/pages/heat_map.h"
#include "tools/extras/report/pages/svg.h"

namespace heed::cli {

namespace {

constexpr double map_square = 20, map_heading = 24, map_gap = 24, widest_row = 1400;  // pixels

std::string words_at(double x, double y, const std::string& words, const char* how) {
  return text("<text transform=\"translate(", x, " ", y, ")", how, ">", svg_text(words),
              "</text>\n");
}

std::string area(double x, double y, double width, double height, const std::string& rest) {
  return text("<rect x=\"", x, "\" y=\"", y, "\" width=\"", width, "\" height=\"", height, "\" ",
              rest, "\n");
}

// The weights of one head, with its names, from (x, y) on.
std::string map_at(double x, double y, const AttentionMap& map, int64_t head) {
  constexpr double nothing = 0.005;  // less is not seen
  const double left = x + name_pixels(map.queries), top = y + map_heading + name_pixels(map.keys);
  const auto at = [](double from, size_t n) { return from + map_square * static_cast<double>(n); };
  const size_t rows = map.queries.size(), columns = map.keys.size();
  const bool causal = is_causal(map);
  std::string out = words_at(left, y + 16, text("head ", head), "\"") +
                    area(left, top, at(0, columns), at(0, rows), "fill=\"url(#later)\"/>");
  for (size_t s = 0; s < columns; ++s) {
    out += words_at(at(left, s) + 14, top - 5, map.keys[s], " rotate(-90)\"");
  }
  for (size_t t = 0; t < rows; ++t) {
    const size_t seen = causal ? t + 1 : columns;
    out += words_at(left - 6, at(top, t) + 14, map.queries[t], "\" text-anchor=\"end\"") +
           area(left, at(top, t), at(0, seen), map_square, "class=\"field\"/>");
    for (size_t s = 0; s < seen; ++s) {
      const auto weight = static_cast<double>(map.row(head, static_cast<int64_t>(t))[s]);
      if (weight < nothing) continue;
      const std::string said =
          text(map.queries[t], " attends to ", map.keys[s], ": ", formatted("%.3f", weight));
      out += area(at(left, s), at(top, t), map_square, map_square,
                  text("class=\"w\" opacity=\"", formatted("%.3g", weight), "\"><title>",
                       svg_text(said), "</title></rect>"));
    }
  }
  return out;
}

}  // namespace

// A row of heads for each layer; several rows where one would be wider than 1,400 pixels.
std::string maps_as_svg(const std::vector<ShownLayer>& layers) {
  double width = 0, height = 8;
  std::string body;
  for (const ShownLayer& layer : layers) {
    const AttentionMap& map = layer.map;
    const int64_t first = layer.first_head(), heads = layer.end_head() - first;
    const double squares = map_square * static_cast<double>(map.keys.size());
    const double across = name_pixels(map.queries) + std::max(squares, 60.0) + map_gap;
    const double down = map_heading + name_pixels(map.keys) +
                        map_square * static_cast<double>(map.queries.size()) + map_gap / 2;
    const auto beside = std::clamp<int64_t>(static_cast<int64_t>(widest_row / across), 1, heads);
    const std::string title = layer.title();
    body += words_at(8, height + 16, title, "\"");
    height += map_heading;
    for (int64_t i = 0; i < heads; ++i) {
      body += map_at(8 + across * static_cast<double>(i % beside),
                     height + down * static_cast<double>(i / beside), map, first + i);
    }
    height += down * static_cast<double>((heads + beside - 1) / beside);
    width = std::max({width, 8 + across * static_cast<double>(beside),
                      8.5 * static_cast<double>(title.size()) + 16});
  }
  return svg_page(width, height, body);
}

}  // namespace heed::cli
