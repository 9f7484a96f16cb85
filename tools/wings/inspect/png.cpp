#include "tools/wings/inspect/png.h"

#include "autograd/base/error.h"
#include "layers/text/display.h"
#include "layers/text/utf8.h"

#ifdef HEED_STB
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#define STBI_WRITE_NO_STDIO  // the file is written atomically, by us
#include <stb_easy_font.h>
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

std::vector<LetterPart> letters_of(const std::string& words) {
  std::string letters;
  const std::string shown = printable(words, 60);
  for (size_t at = 0; at < shown.size();) {
    const Utf8Character c = utf8_at(shown, at);
    letters += c.code < 0x7f ? static_cast<char>(c.code) : c.code == U'␣' ? '_' : '?';
    at += std::max<size_t>(1, c.size);
  }
  std::vector<float> corners(letters.size() * 24 *
                             16);  // of 24 rectangles a letter: more than any has
  const int count = stb_easy_font_print(0, 0, letters.data(), nullptr, corners.data(),
                                        static_cast<int>(corners.size() * sizeof(float)));
  std::vector<LetterPart> parts;
  for (int i = 0; i < count; ++i) {
    const float* const of =
        &corners[static_cast<size_t>(16 * i)];  // x, y, z and colour of each corner
    parts.push_back({static_cast<int>(of[0]), static_cast<int>(of[1]),
                     static_cast<int>(of[8] - of[0]), static_cast<int>(of[9] - of[1])});
  }
  return parts;
}

#else

bool has_png() { return false; }

std::string png_of(std::span<const uint8_t>, int, int) { fail("png: built without stb"); }
std::vector<LetterPart> letters_of(const std::string&) { fail("png: built without stb"); }

#endif

}  // namespace heed::cli
