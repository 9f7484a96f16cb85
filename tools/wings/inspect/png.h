// PNG files, written by stb_image_write, which CMake looks for (tools/cmake/dependencies.cmake).
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace heed::cli {

// Whether this build has stb_image_write. png_of may be called only then.
bool has_png();

// pixels: (height, width, 3), red, green and blue.
std::string png_of(std::span<const uint8_t> pixels, int width, int height);

}  // namespace heed::cli
