#include "tools/wings/inspect/png.h"

#include "autograd/base/error.h"

#ifdef HEED_STB
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#define STBI_WRITE_NO_STDIO  // the file is written atomically, by us
#include <stb_image_write.h>
#endif

namespace heed::cli {

#ifdef HEED_STB

bool has_png() { return true; }

std::string png_of(std::span<const uint8_t> pixels, int width, int height) {
  std::string file;
  const auto add = [](void* to, void* bytes, int count) {
    static_cast<std::string*>(to)->append(static_cast<const char*>(bytes),
                                          static_cast<size_t>(count));
  };
  const int written =
      stbi_write_png_to_func(add, &file, width, height, 3, pixels.data(), 3 * width);
  require(written != 0, "png: expected memory for ", width, " x ", height, " pixels, got none");
  return file;
}

#else

bool has_png() { return false; }

std::string png_of(std::span<const uint8_t>, int, int) { fail("png: built without stb"); }

#endif

}  // namespace heed::cli
