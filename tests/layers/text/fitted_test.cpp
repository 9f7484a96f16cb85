// Lines that fit a terminal.
#include "layers/text/fitted.h"

#include <doctest/doctest.h>

using namespace heed;

TEST_CASE("fitted: lines that fit, and text for no terminal, keep every byte") {
  for (const std::string text : {"", "\n", "one  two\n\n  three \n", "no newline"}) {
    CHECK(fitted(text, 20) == text);
  }
  const std::string wide = "a line that is wider than ten columns\n";
  CHECK(fitted(wide, {}) == wide);
}

TEST_CASE("fitted: a wide line is broken between words, its rest indented as its last column") {
  CHECK(fitted("one two three four\nfive\n", 9) == "one two\nthree\nfour\nfive\n");
  CHECK(fitted("  one two three", 9) == "  one two\n  three");
  CHECK(fitted("name      what it is and does\n", 20) ==
        "name      what it is\n          and does\n");
  // A column in the second half would leave no room.
  CHECK(fitted("a name of 13  and more words\n", 20) == "a name of 13  and\nmore words\n");
  CHECK(fitted("one  two  three", 11) == "one  two\n     three");
  CHECK(fitted("12345678", 4) == "12345678");
  CHECK(fitted("to 12345678 be", 4) == "to\n12345678\nbe");
  CHECK(fitted("  12345678 be", 4) == "  12345678\n  be");
}

TEST_CASE("fitted: columns, not bytes") {
  CHECK(fitted("\xC3\xBC\xC3\xBC \xC3\xBC\xC3\xBC", 5) == "\xC3\xBC\xC3\xBC \xC3\xBC\xC3\xBC");
  CHECK(fitted("\xE4\xB8\xAD\xE6\x96\x87 a", 5) == "\xE4\xB8\xAD\xE6\x96\x87\na");
}
