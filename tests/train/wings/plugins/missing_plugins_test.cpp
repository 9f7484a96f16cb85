// Plugins that a config names and that are not there.
#include <doctest/doctest.h>

#include "tests/support/config_lines.h"
#include "train/config/plugin_host.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("rules: missing plugins do not hide the rest, nor do their types count as mistakes") {
  const std::string missing =
      ": cannot open: No such file or directory; build it, or if it has moved: heed --plugin PATH/";
  const std::string first = "c.yaml:1:11: plugins.0: a.so" + missing + "a.so COMMAND ...";
  const std::string second = "c.yaml:1:17: plugins.1: b.so" + missing + "b.so COMMAND ...";
  const std::string plugins = "plugins: [a.so, b.so]\n";
  plugin_host().trust(true);
  CHECK(lines_of(plugins + sections, {"model.type=mine"}) == first + "\n" + second);
  CHECK(
      lines_of(plugins + sections, {"model.type=mine", "train.steps=0"}) ==
      first + "\n" + second +
          "\n--set train.steps=0:1:13: train.steps: expected a whole number of at least 1, got 0");
  plugin_host().trust(false);
}
