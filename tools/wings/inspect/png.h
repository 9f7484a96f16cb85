// PNG files and letters in them, by stb_image_write and stb_easy_font, which CMake looks for
// (wing.cmake).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace heed::cli {

// Whether this build has stb. The functions below may be called only then.
bool has_png();

// pixels: (height, width, 3), red, green and blue.
std::string png_of(std::span<const uint8_t> pixels, int width, int height);

// Words as rectangles, from left to right, in pixels. Letters are 9 high and 7 wide at most; the
// sign of a blank is "_", what is not ASCII "?".
struct LetterPart {
  int x, y, width, height;
};
std::vector<LetterPart> letters_of(const std::string& words);

}  // namespace heed::cli
