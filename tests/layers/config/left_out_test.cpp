// What is said of a type or a command whose wing this build leaves out.
#include "layers/config/left_out.h"

#include <doctest/doctest.h>

#include "tests/support/run_program.h"
#include "tests/support/source_tree.h"
#include "tests/support/temp_dir.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("left out: a type or a command of a missing wing is answered by its name") {
  const bool deleted = !std::filesystem::exists(house::root() / "layers/wings/recurrent");
  const bool is_left_out = !house::has_wing("recurrent") && !deleted;
  CHECK(belongs_to_wing("layer", "gru") ==
        (is_left_out
             ? "; it belongs to the wing recurrent, which this build leaves out (-DHEED_WINGS)"
             : ""));
  CHECK(belongs_to_wing("layer", "no_such_layer").empty());
  CHECK(belongs_to_wing("task", "gru").empty());
  const TempDir folder;
  write_text(folder / "c.yaml", "model: {type: gruu}\n");
  CHECK(contains(run_heed({"validate", (folder / "c.yaml").string()}).err, "unknown layer gruu"));
  if (is_left_out) {
    write_text(folder / "c.yaml", "model: {type: gru, d_in: 2, d_out: 2}\n");
    CHECK(contains(run_heed({"validate", (folder / "c.yaml").string()}).err,
                   "model.type: unknown layer gru; it belongs to the wing recurrent, "));
  }
  if (!house::has_wing("tour") && std::filesystem::exists(house::root() / "tools/wings/tour")) {
    CHECK(run_heed({"tour"}).err ==
          "heed: unknown command tour; it belongs to the wing tour, which this build leaves out "
          "(-DHEED_WINGS)\n");
  }
}
