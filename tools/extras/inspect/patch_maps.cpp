#include "tools/extras/inspect/patch_maps.h"

#include <algorithm>

#include "layers/text/formatted.h"
#include "tools/extras/report/pages/svg.h"

namespace heed::cli {

namespace {

struct Panel {
  int64_t head = 0;
  std::vector<double> weights;
  double most = 0;
};

std::vector<Panel> panels_of(const ShownLayer& layer, const PatchGrid& grid) {
  std::vector<Panel> panels;
  for (int64_t head = layer.first_head(); head < layer.end_head(); ++head) {
    Panel panel{head, attention_on_patches(layer.map, head, grid)};
    panel.most = *std::max_element(panel.weights.begin(), panel.weights.end());
    panels.push_back(std::move(panel));
  }
  return panels;
}

constexpr const char* overlay = "#d9480f";  // over gray pixels, which the ink of other maps is like

std::string panel_name(const Panel& panel) {
  return text("head ", panel.head, ": up to ", formatted("%.3f", panel.most));
}

}  // namespace

std::vector<double> attention_on_patches(const AttentionMap& map, int64_t head,
                                         const PatchGrid& grid) {
  const int64_t queries = grid.class_token ? 1 : map.weights.dim(1);
  std::vector<double> sums;
  for (size_t s = grid.class_token ? 1 : 0; s < static_cast<size_t>(map.weights.dim(2)); ++s) {
    double sum = 0;
    for (int64_t t = 0; t < queries; ++t) {
      sum += static_cast<double>(map.row(head, t)[s]);
    }
    sums.push_back(sum / static_cast<double>(queries));
  }
  return sums;
}

std::string patch_maps_as_svg(const Array& picture, const std::vector<ShownLayer>& layers,
                              const PatchGrid& grid) {
  const int64_t height = picture.dim(2), width = picture.dim(3);
  const int64_t scale = std::max<int64_t>(1, 144 / std::max(height, width));
  const int64_t across = std::max<int64_t>(width * scale, 130) + 16, down = height * scale;
  const std::vector<double> pixels = brightness(picture);
  const auto rect = [](int64_t x, int64_t y, int64_t side, const std::string& rest) {
    return text("<rect x=\"", x, "\" y=\"", y, "\" width=\"", side, "\" height=\"", side, "\" ",
                rest);
  };
  std::string body = "<defs><g id=\"picture\" shape-rendering=\"crispEdges\">\n";
  for (int64_t i = 0; i < height * width; ++i) {
    // Light, so that the colours over it show.
    const auto shade = static_cast<int>(248 - 140 * pixels[static_cast<size_t>(i)]);
    body += rect(i % width * scale, i / width * scale, scale,
                 text("fill=\"rgb(", shade, ",", shade, ",", shade, ")\"/>\n"));
  }
  body += "</g></defs>\n";
  int64_t top = 8, most = 1;
  for (const ShownLayer& layer : layers) {
    body += svg_heading(layer.title(), static_cast<double>(top + 16));
    top += 26;
    body += text("<use href=\"#picture\" x=\"8\" y=\"", top, "\"/>\n<text x=\"8\" y=\"",
                 top + down + 15, "\">picture</text>\n");
    const std::vector<Panel> panels = panels_of(layer, grid);
    most = std::max(most, 1 + std::ssize(panels));
    for (size_t k = 0; k < panels.size(); ++k) {
      const int64_t left = 8 + across * static_cast<int64_t>(k + 1);
      body += text("<use href=\"#picture\" x=\"", left, "\" y=\"", top, "\"/>\n");
      for (int64_t patch = 0; patch < grid.rows * grid.columns; ++patch) {
        const double weight = panels[k].weights[static_cast<size_t>(patch)];
        const int64_t row = patch / grid.columns, column = patch % grid.columns;
        body += rect(
            left + column * grid.side * scale, top + row * grid.side * scale, grid.side * scale,
            text("fill=\"", overlay, "\" fill-opacity=\"",
                 formatted("%.3f", 0.75 * weight / panels[k].most), "\"><title>row ", row,
                 ", column ", column, ": ", formatted("%.3f", weight), "</title></rect>\n"));
      }
      body += text("<text x=\"", left, "\" y=\"", top + down + 15, "\">", panel_name(panels[k]),
                   "</text>\n");
    }
    top += down + 30;
  }
  return svg_page(static_cast<double>(8 + across * most), static_cast<double>(top), body);
}

}  // namespace heed::cli
