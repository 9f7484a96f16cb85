#include "autograd/base/text.h"

#include <doctest/doctest.h>

#include "autograd/base/utf8.h"

using namespace heed;

namespace {

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

TEST_CASE("text: characters that steer a terminal or hide are escaped, all others stay") {
  CHECK(printable("a\nb\x01"
                  "c") == "a\\nb\\x01c");
  CHECK(printable("\x1B[31m\x7F") == "\\x1b[31m\\x7f");
  CHECK(printable("\xC2\x9B"
                  "31m") == "\\u009b31m");
  CHECK(printable("a\xE2\x80\xAE"
                  "b") == "a\\u202eb");
  CHECK(printable("\xD8\x9C") == "\\u061c");
  int64_t escaped = 0;
  for (char32_t c = 0; c < 0x3000; ++c) {
    const std::string character = to_utf8(c), shown = printable(character);
    CHECK_MESSAGE((shown == character) == !listed(c), static_cast<unsigned>(c), " ", shown);
    escaped += shown == character ? 0 : 1;
  }
  CHECK(escaped == 32 + 33 + 1 + 1 + 1 + 2 + 2 + 1 + 1 + 2 + 7 + 16);
}

TEST_CASE("text: invisible characters above U+3000") {
  CHECK(printable(to_utf8(U'\xFEFF')) == "\\ufeff");
  CHECK(printable(to_utf8(U'\x3164')) == "\\u3164");
  CHECK(printable(to_utf8(U'\xE0041')) == "\\U000e0041");
  for (const char32_t c : {U'\x200C', U'\x200D', U'\xFE0F', U'\xFFFD', U'\x1F600', U'\xE0100'}) {
    CHECK(printable(to_utf8(c)) == to_utf8(c));
  }
}

TEST_CASE("text: bytes that are no UTF-8 are escaped one by one") {
  CHECK(printable("caf\xE9.txt") == "caf\\xe9.txt");
  CHECK(printable("\x9B"
                  "31m") == "\\x9b31m");
  CHECK(printable("\xC0\x9B") == "\\xc0\\x9b");  // an overlong ESC
  CHECK(printable("\xE2\x80") == "\\xe2\\x80");  // cut
}

TEST_CASE("text: the limit cuts between characters") {
  CHECK(printable(std::string(100, 'x')) == std::string(60, 'x') + "...");
  CHECK(printable("\xC3\xA9\xC3\xA9\xC3\xA9", 3) == "\xC3\xA9\xC3\xA9...");
  CHECK(printable("abc", 3) == "abc");
}

TEST_CASE("text: a message of several lines keeps them") {
  CHECK(printable_lines("a\nb\t\x1B\r\n") == "a\nb\\x09\\x1b\\x0d\n");
  CHECK(printable_lines("a\nb\t\x1B", "\n\t") == "a\nb\t\\x1b");
  CHECK(printable_lines(std::string(5000, 'x')).size() == 5000);
  CHECK(printable_lines("\xE2\x80\xAE\n") == "\\u202e\n");
}
