// What pictures of attention (SVG) have in common: paper with headings, the names of tokens, and
// the colour of a weight.
#pragma once

#include <string>
#include <vector>

namespace heed::cli {

// A name as the text of an element: no markup, no control character, at most 60 columns.
std::string svg_text(const std::string& name);

// The width of the longest name in a font of 12 pixels, with some room.
double name_pixels(const std::vector<std::string>& names);

// The beginning of a picture of this size, in pixels, with more attributes. Its classes paper,
// faint, field (weight 0), w (weight 1) and line have the colours of the pages, light or dark as
// the reader's; url(#later) is hatching.
std::string svg_begin(double width, double height, const std::string& more);
// A whole picture: `body` on paper.
std::string svg_page(double width, double height, const std::string& body);
// A heading at its left edge.
std::string svg_heading(const std::string& title, double y);

}  // namespace heed::cli
