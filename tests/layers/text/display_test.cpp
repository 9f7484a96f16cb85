#include "layers/text/display.h"

#include <doctest/doctest.h>

#include "layers/text/utf8.h"

using namespace heed;

namespace {

using Texts = std::initializer_list<std::pair<std::string, std::string>>;

void check_shown(Texts rows) {
  for (const auto& [text, want] : rows) CHECK(printable(text) == want);
}

bool listed(char32_t c) {
  for (const auto& [low, high] :
       {std::pair{U'\x00', U'\x1F'}, std::pair{U'\x7F', U'\x9F'}, std::pair{U'\xAD', U'\xAD'},
        std::pair{U'\x34F', U'\x34F'}, std::pair{U'\x61C', U'\x61C'},
        std::pair{U'\x115F', U'\x1160'}, std::pair{U'\x17B4', U'\x17B5'},
        std::pair{U'\x180E', U'\x180E'}, std::pair{U'\x200B', U'\x200B'},
        std::pair{U'\x200E', U'\x200F'}, std::pair{U'\x2028', U'\x202E'},
        std::pair{U'\x2060', U'\x206F'}}) {
    if (c >= low && c <= high) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("display: characters that steer a terminal or hide are escaped, all others stay") {
  check_shown({{"a\nb\x01.c", "a\\nb\\x01.c"},
               {"\x1B[31m\x7F", "\\x1b[31m\\x7f"},
               {"\xC2\x9B[31m", "\\u009b[31m"},
               {"a\xE2\x80\xAE.b", "a\\u202e.b"},
               {"\xD8\x9C", "\\u061c"}});
  int64_t escaped = 0;
  for (char32_t c = 0; c < 0x3000; ++c) {
    const std::string character = to_utf8(c), found = printable(character);
    CHECK_MESSAGE((found == character) == !listed(c), static_cast<unsigned>(c), " ", found);
    escaped += found == character ? 0 : 1;
  }
  CHECK(escaped == 32 + 33 + 1 + 1 + 1 + 2 + 2 + 1 + 1 + 2 + 7 + 16);
}

TEST_CASE("display: invisible characters above U+3000") {
  check_shown({{to_utf8(U'\xFEFF'), "\\ufeff"},
               {to_utf8(U'\x3164'), "\\u3164"},
               {to_utf8(U'\xE0041'), "\\U000e0041"}});
  // Reserved for characters to be ignored; marks that format shorthand and hieroglyphs.
  for (const char32_t c : {0x2065, 0xE0000, 0xE0002, 0xE01F0, 0xE0FFF, 0x1BCA0, 0x13430}) {
    CHECK_MESSAGE(printable(to_utf8(c)) != to_utf8(c), static_cast<unsigned>(c));
  }
  for (const char32_t c :
       {U'\x180B', U'\x0600', U'\x200C', U'\x200D', U'\xFE0F', U'\xFFFD', U'\x1F600', U'\xE0100'}) {
    CHECK(printable(to_utf8(c)) == to_utf8(c));
  }
}

TEST_CASE("display: bytes that are no UTF-8 are escaped one by one") {
  check_shown({{"caf\xE9.txt", "caf\\xe9.txt"},
               {"\x9B.31m", "\\x9b.31m"},
               {"\xC0\x9B", "\\xc0\\x9b"},    // an overlong ESC
               {"\xE2\x80", "\\xe2\\x80"}});  // cut
}

TEST_CASE("display: the limit cuts between characters") {
  CHECK(printable(std::string(100, 'x')) == std::string(60, 'x') + "...");
  CHECK(printable("\xC3\xA9\xC3\xA9\xC3\xA9", 3) == "\xC3\xA9\xC3\xA9...");
  CHECK(printable("abc", 3) == "abc");
}

TEST_CASE("display: a message of several lines keeps them") {
  CHECK(printable_lines("a\nb\t\x1B\r\n") == "a\nb\\x09\\x1b\\x0d\n");
  CHECK(printable_lines("a\nb\t\x1B", "\n\t") == "a\nb\t\\x1b");
  CHECK(printable_lines(std::string(5000, 'x')).size() == 5000);
  CHECK(printable_lines("\xE2\x80\xAE\n") == "\\u202e\n");
}

TEST_CASE("display: width of Latin, Chinese, Korean, emoji, marks") {
  for (const auto& entry : std::initializer_list<std::pair<const char*, int64_t>>{
           {"Every", 5},
           {"über", 4},
           {"\xE4\xB8\xAD\xE6\x96\x87", 4},  // two Chinese characters
           {"\xED\x95\x9C", 2},              // a Korean syllable
           {"\xEF\xBC\xA1", 2},              // a fullwidth A
           {"\xEF\xBD\xB1", 1},              // a halfwidth katakana
           {"\xF0\x9F\x98\x80!", 3},         // an emoji
           {"e\xCC\x81", 1},                 // e, combining acute
           {"\xE0\xB8\x81\xE0\xB8\xB1", 1},  // Thai consonant and vowel mark
           {"\xE2\x90\xA3", 1},              // the visible blank
           {"\xFF.", 2},                     // an invalid byte
           {"", 0}}) {
    CHECK_MESSAGE(display_width(entry.first) == entry.second, entry.first);
  }
}

TEST_CASE("display: widths at both ends of the ranges") {
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

TEST_CASE("display: marks of every script combine, those beside their letter take a column") {
  for (const char32_t above : {0x05BC, 0x09C1, 0x0CC6, 0x0EB1, 0x17B7, 0x2DE0}) {
    CHECK_MESSAGE(display_width(above) == 0, static_cast<unsigned>(above));
  }
  for (const char32_t beside : {0x0903, 0x093E, 0x0BBE, 0x102B}) {
    CHECK_MESSAGE(display_width(beside) == 1, static_cast<unsigned>(beside));
  }
}

TEST_CASE("display: a single character is always visible") {
  for (const auto& [c, want] :
       std::initializer_list<std::pair<char32_t, const char*>>{{U'a', "a"},
                                                               {U'\n', "\\n"},
                                                               {U' ', "\xE2\x90\xA3"},
                                                               {U'\x4E2D', "\xE4\xB8\xAD"},
                                                               {U'\0', "U+0000"},
                                                               {U'\x10FFFF', "U+10FFFF"}}) {
    CHECK(visible(c) == want);
  }
  // Blanks, marks without a letter, formats, private use, unassigned.
  for (const char32_t c : {0xA0, 0xAD, 0x301, 0xE31, 0x1680, 0x2003, 0x200B, 0x202E, 0x3000, 0x3164,
                           0xE000, 0xFE0F, 0xFEFF, 0xE0041, 0xF0000}) {
    CHECK_MESSAGE(visible(c).starts_with("U+"), static_cast<unsigned>(c));
  }
}
