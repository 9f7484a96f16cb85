// What is said of a type or a command whose extra this build leaves out.
#include "layers/config/left_out.h"

#include <doctest/doctest.h>

#include "tests/support/run_program.h"
#include "tests/support/source_tree.h"
#include "tests/support/temp_dir.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("left out: a type or a command of a missing extra is answered by its name") {
  const bool deleted = !std::filesystem::exists(layout::root() / "layers/extras/recurrent");
  const bool is_left_out = !layout::has_extra("recurrent") && !deleted;
  CHECK(belongs_to_extra("layer", "gru") ==
        (is_left_out
             ? "; it belongs to the extra recurrent, which this build leaves out (-DHEED_EXTRAS)"
             : ""));
  CHECK(belongs_to_extra("layer", "no_such_layer").empty());
  CHECK(belongs_to_extra("task", "gru").empty());
  const TempDir folder;
  write_text(folder / "c.yaml", "model: {type: gruu}\n");
  CHECK(contains(run_heed({"validate", (folder / "c.yaml").string()}).err, "unknown layer gruu"));
  if (is_left_out) {
    write_text(folder / "c.yaml", "model: {type: gru, d_in: 2, d_out: 2}\n");
    CHECK(contains(run_heed({"validate", (folder / "c.yaml").string()}).err,
                   "model.type: unknown layer gru; it belongs to the extra recurrent, "));
  }
  if (!layout::has_extra("tour") && std::filesystem::exists(layout::root() / "tools/extras/tour")) {
    CHECK(run_heed({"tour"}).err ==
          "heed: unknown command tour; it belongs to the extra tour, which this build leaves out "
          "(-DHEED_EXTRAS)\n");
  }
}
