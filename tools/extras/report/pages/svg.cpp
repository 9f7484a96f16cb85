#include "tools/extras/report/pages/svg.h"

#include <algorithm>

#include "autograd/base/error.h"
#include "layers/text/display.h"

namespace heed::cli {

namespace {

constexpr size_t most_columns = 60;

// url(#later): what a mask hides.
constexpr const char* hatching =
    "<pattern id=\"later\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
    "patternTransform=\"rotate(45)\"><path class=\"line\" d=\"M0 0v6\"/></pattern>\n";

constexpr const char* svg_colors =
    ".heed .paper{fill:#fbfaf7}.heed text{fill:#1d1c1a}.heed .faint{fill:#66635c}"
    ".heed .field{fill:#f3f1ea}.heed .w{fill:#22211f}.heed .line{stroke:#cfcabd}\n"
    "@media (prefers-color-scheme:dark){.heed .paper{fill:#161513}.heed text{fill:#ece9e2}"
    ".heed .faint{fill:#a19d93}.heed .field{fill:#232220}.heed .w{fill:#f4efe4}"
    ".heed .line{stroke:#4a463e}}\n";

}  // namespace

std::string svg_text(const std::string& name) {
  std::string out;
  for (const char c : printable(name, most_columns)) {
    out += c == '<'   ? "&lt;"
           : c == '>' ? "&gt;"
           : c == '&' ? "&amp;"
           : c == '"' ? "&quot;"
                      : std::string(1, c);
  }
  return out;
}

double name_pixels(const std::vector<std::string>& names) {
  size_t most = 1;
  for (const std::string& name : names) {
    most = std::max(most, display_width(printable(name, most_columns)));
  }
  return 7.5 * static_cast<double>(most) + 10;
}

std::string svg_begin(double width, double height, const std::string& label) {
  return text("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"heed\" width=\"", width,
              "\" height=\"", height, "\" viewBox=\"0 0 ", width, " ", height,
              "\" font-family=\"DejaVu Sans, sans-serif\" font-size=\"12\"", label, ">\n<style>\n",
              svg_colors, "</style>\n", hatching);
}

std::string svg_page(double width, double height, const std::string& body) {
  return svg_begin(width, height, "") + "<rect width=\"100%\" height=\"100%\" class=\"paper\"/>\n" +
         body + "</svg>\n";
}

std::string svg_heading(const std::string& title, double y) {
  return text("<text x=\"8\" y=\"", y, "\" font-size=\"14\" font-weight=\"600\">", svg_text(title),
              "</text>\n");
}

}  // namespace heed::cli
