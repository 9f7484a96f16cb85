// A file of examples that a config names and that is not there.
#include <doctest/doctest.h>

#include "tests/support/config_lines.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("pairs: an empty name of a file is none") {
  const std::string message = "expected the name of a file, got nothing";
  CHECK(lines_of(sections, {"data={type: pairs, path: \"\"}"}) ==
        "--set data={type: pairs, path: \"\"}:1:26: data.path: " + message);
}
