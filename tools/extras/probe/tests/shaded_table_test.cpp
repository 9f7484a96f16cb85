#include "tools/extras/probe/shaded_table.h"

#include <doctest/doctest.h>

using namespace heed::cli;

TEST_CASE("shaded_table: columns with names, to the right, shaded by characters without colour") {
  const std::vector<std::vector<ShadedCell>> cells{{{"a", 0.1}, {"long", 1}}, {{"\x1b[2J", 0.5}}};
  CHECK(shaded_table({"x", "row"}, {"one", "two"}, cells, {.color = false}) ==
        "           one     two\n"
        "x          a .  long @\n"
        "row  \\x1b[2J +\n");
}

TEST_CASE("shaded_table: cells in the colour of their value, with text that can be read on it") {
  const std::string table = shaded_table({"x"}, {"c"}, {{{"lo", 0}, {"hi", 1}}}, {.color = true});
  CHECK(table == "    c\nx  \x1b[48;5;255;38;5;16mlo\x1b[0m\n");
  const std::string high = shaded_table({"x"}, {"c"}, {{{"hi", 1}}}, {.color = true});
  CHECK(high == "    c\nx  \x1b[48;5;232;38;5;231mhi\x1b[0m\n");
  const std::string less = shaded_table({"x"}, {"c"}, {{{"hi", -1}}}, {.color = true});
  CHECK(less == "    c\nx  \x1b[48;5;88;38;5;231mhi\x1b[0m\n");  // red, unlike 1
}
