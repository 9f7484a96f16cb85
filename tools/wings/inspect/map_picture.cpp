#include "tools/wings/inspect/map_picture.h"

#include <algorithm>

#include "layers/text/formatted.h"
#include "tools/wings/inspect/png.h"
#include "tools/wings/pages/heat_map.h"
#include "tools/wings/pages/svg.h"

namespace heed::cli {

namespace {

constexpr double map_square = 20, map_heading = 24, map_gap = 24, widest_row = 1400;  // pixels

// Words, from x on, up to x, or upwards from y; what a mask hides, what it lets through, a weight.
enum class MarkKind { left, right, up, later, seen, weight };

// A part of a picture, drawn as markup or as pixels.
struct Mark {
  MarkKind kind;
  double x, y;
  std::string words;  // of a weight: what it says
  double width = map_square, height = map_square;
  double weight = 0;
};

struct Picture {
  double width = 0, height = 8;
  std::vector<Mark> marks;
};

// The weights of one head, with its names from (x, y) on.
void add_map(const AttentionMap& map, int64_t head, double x, double y, Picture& out) {
  const double left = x + name_pixels(map.queries), top = y + map_heading + name_pixels(map.keys);
  const auto at = [](double from, size_t n) { return from + map_square * static_cast<double>(n); };
  const size_t rows = map.queries.size(), columns = map.keys.size();
  const bool causal = is_causal(map);
  out.marks.push_back({MarkKind::left, left, y + 16, text("head ", head)});
  out.marks.push_back({MarkKind::later, left, top, "", at(0, columns), at(0, rows)});
  for (size_t s = 0; s < columns; ++s) {
    out.marks.push_back({MarkKind::up, at(left, s) + 14, top - 5, map.keys[s]});
  }
  for (size_t t = 0; t < rows; ++t) {
    const size_t seen = causal ? t + 1 : columns;
    out.marks.push_back({MarkKind::right, left - 6, at(top, t) + 14, map.queries[t]});
    out.marks.push_back({MarkKind::seen, left, at(top, t), "", at(0, seen)});
    for (size_t s = 0; s < seen; ++s) {
      const auto weight = static_cast<double>(map.row(head, static_cast<int64_t>(t))[s]);
      out.marks.push_back(
          {MarkKind::weight, at(left, s), at(top, t),
           text(map.queries[t], " attends to ", map.keys[s], ": ", formatted("%.3f", weight)),
           map_square, map_square, weight});
    }
  }
}

// A row of heads for each layer; several rows where one would be wider than 1,400 pixels.
Picture picture_of(const std::vector<ShownLayer>& layers) {
  Picture out;
  for (const ShownLayer& layer : layers) {
    const AttentionMap& map = layer.map;
    const int64_t first = layer.first_head(), heads = layer.end_head() - first;
    const double squares = map_square * static_cast<double>(map.keys.size());
    const double across = name_pixels(map.queries) + std::max(squares, 60.0) + map_gap;
    const double down = map_heading + name_pixels(map.keys) +
                        map_square * static_cast<double>(map.queries.size()) + map_gap / 2;
    const auto beside = std::clamp<int64_t>(static_cast<int64_t>(widest_row / across), 1, heads);
    const std::string title = layer.title();
    out.marks.push_back({MarkKind::left, 8, out.height + 16, title});
    out.height += map_heading;
    for (int64_t i = 0; i < heads; ++i) {
      add_map(map, first + i, 8 + across * static_cast<double>(i % beside),
              out.height + down * static_cast<double>(i / beside), out);
    }
    out.height += down * static_cast<double>((heads + beside - 1) / beside);
    out.width = std::max({out.width, 8 + across * static_cast<double>(beside),
                          8.5 * static_cast<double>(title.size()) + 16});
  }
  return out;
}

std::string markup(const Mark& of) {
  const std::string words = svg_text(of.words);
  if (of.kind == MarkKind::left || of.kind == MarkKind::right || of.kind == MarkKind::up) {
    return text("<text transform=\"translate(", of.x, " ", of.y, ")",
                of.kind == MarkKind::up ? " rotate(-90)\"" : "\"",
                of.kind == MarkKind::right ? " text-anchor=\"end\">" : ">", words, "</text>\n");
  }
  const std::string area = text("<rect x=\"", of.x, "\" y=\"", of.y, "\" width=\"", of.width,
                                "\" height=\"", of.height, "\" ");
  return of.kind == MarkKind::later ? area + "fill=\"url(#later)\"/>\n"
         : of.kind == MarkKind::seen
             ? area + "class=\"field\"/>\n"
             : area + text("class=\"w\" opacity=\"", formatted("%.3g", of.weight), "\"><title>",
                           words, "</title></rect>\n");
}

}  // namespace

std::string maps_as_svg(const std::vector<ShownLayer>& layers) {
  constexpr double nothing = 0.005;  // less is not seen
  const Picture picture = picture_of(layers);
  std::string body;
  for (const Mark& of : picture.marks) {
    if (of.kind != MarkKind::weight || of.weight >= nothing) body += markup(of);
  }
  return svg_page(picture.width, picture.height, body);
}

std::string maps_as_png(const std::vector<ShownLayer>& layers) {
  const Picture picture = picture_of(layers);
  const auto width = static_cast<int>(picture.width), height = static_cast<int>(picture.height);
  std::vector<uint8_t> pixels(3 * static_cast<size_t>(width) * static_cast<size_t>(height), 0xff);
  const auto fill = [&](int x, int y, int across, int down, double weight) {
    const Color color = color_of_weight(weight);
    for (int i = 0; i < across * down; ++i) {
      const int column = x + i % across, row = y + i / across;
      if (column < 0 || column >= width || row < 0 || row >= height) continue;
      std::copy(color.begin(), color.end(), pixels.begin() + 3 * (ptrdiff_t{row} * width + column));
    }
  };
  for (const Mark& of : picture.marks) {
    const auto x = static_cast<int>(of.x), y = static_cast<int>(of.y);
    const auto across = static_cast<int>(of.width), down = static_cast<int>(of.height);
    if (of.kind == MarkKind::seen || of.kind == MarkKind::weight)
      fill(x, y, across, down, of.weight);
    for (int i = 0; of.kind == MarkKind::later && i < across * down; ++i) {
      if ((i % across + i / across) % 6 == 0) fill(x + i % across, y + i / across, 1, 1, 0.2);
    }
    if (of.kind > MarkKind::up) continue;
    const std::vector<LetterPart> parts = letters_of(of.words);
    const int length = parts.empty() ? 0 : parts.back().x + parts.back().width;
    const int begin = of.kind == MarkKind::right ? x - length : x;
    for (const LetterPart& part : parts) {
      if (of.kind == MarkKind::up) {
        fill(x - 9 + part.y, y - part.x - part.width, part.height, part.width, 1);
      } else {
        fill(begin + part.x, y - 9 + part.y, part.width, part.height, 1);
      }
    }
  }
  return png_of(pixels, width, height);
}

}  // namespace heed::cli
