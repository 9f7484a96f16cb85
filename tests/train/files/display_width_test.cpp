#include "train/files/display_width.h"

#include <doctest/doctest.h>

using namespace heed;

TEST_CASE("display width: Latin, Chinese, Korean, emoji, marks") {
  CHECK(display_width("Every") == 5);
  CHECK(display_width("\xC3\xBC"
                      "ber") == 4);                       // über
  CHECK(display_width("\xE4\xB8\xAD\xE6\x96\x87") == 4);  // two Chinese characters
  CHECK(display_width("\xED\x95\x9C") == 2);              // a Korean syllable
  CHECK(display_width("\xEF\xBC\xA1") == 2);              // a fullwidth A
  CHECK(display_width("\xEF\xBD\xB1") == 1);              // a halfwidth katakana
  CHECK(display_width("\xF0\x9F\x98\x80!") == 3);         // an emoji
  CHECK(display_width("e\xCC\x81") == 1);                 // e, combining acute
  CHECK(display_width("\xE0\xB8\x81\xE0\xB8\xB1") == 1);  // Thai consonant and vowel mark
  CHECK(display_width("\xE2\x90\xA3") == 1);              // the visible blank
  CHECK(display_width("\xFF"
                      "a") == 2);  // an invalid byte
  CHECK(display_width("") == 0);
}

TEST_CASE("display width: both ends of the ranges") {
  for (const char32_t wide : {0x1100, 0x115F, 0x231A, 0x3000, 0x4E00, 0xAC00, 0xD7A3, 0xFF01,
                              0xFF60, 0x1F300, 0x1F64F, 0x20000, 0x3134A}) {
    CHECK_MESSAGE(display_width(wide) == 2, static_cast<unsigned>(wide));
  }
  for (const char32_t narrow : {0x41, 0xE9, 0x2FF, 0x370, 0x10FF, 0x1160, 0x303F, 0xD7A4, 0xFF61,
                                0x1F650, 0x3134B, 0x10FFFF}) {
    CHECK_MESSAGE(display_width(narrow) == 1, static_cast<unsigned>(narrow));
  }
  for (const char32_t none : {0x300, 0x36F, 0x200D, 0xFE0F, 0xE01EF}) {
    CHECK_MESSAGE(display_width(none) == 0, static_cast<unsigned>(none));
  }
}
