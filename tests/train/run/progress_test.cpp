#include "train/run/progress.h"

#include <doctest/doctest.h>

#include "tests/support/run_program.h"

using namespace heed;
using heed::testing::contains;

TEST_CASE("progress: the line") {
  ProgressPoint point{.first_step = 0,
                      .step = 500,
                      .steps = 2000,
                      .loss = 1.94119,
                      .val_loss = {},
                      .lr = 9.1e-4,
                      .tokens = 498400,
                      .seconds = 10,
                      .in_steps = 8};
  CHECK(progress_text(point) ==
        "step 500/2000   loss 1.9412   lr 9.1e-04   62,300 tokens/s   0:30 left");
  point.val_loss = 1.988;
  CHECK(progress_text(point) ==  // with the learning rate it had 81 columns
        "step 500/2000   loss 1.9412   val 1.9880   62,300 tokens/s   0:30 left");
  point.added = {{"load_balancing", 0.0812}};
  CHECK(progress_text(point) ==
        "step 500/2000   loss 1.9412   val 1.9880   load_balancing 0.0812   0:30 left");
  point.added.clear();
  point.first_step = 400;  // the speed of this process alone
  CHECK(progress_text(point).ends_with("62,300 tokens/s   2:30 left"));
  point.in_steps = 0;
  CHECK(progress_text(point) == "step 500/2000   loss 1.9412   val 1.9880   lr 9.1e-04");
  point.step = 1'000'000, point.steps = 2'000'000, point.tokens = int64_t{1} << 40;
  CHECK(progress_text(point).size() <= 79);
  CHECK(!contains(progress_text(point), "tokens/s"));
  point.step = 500, point.tokens = 498400;
  point.in_steps = 8;
  CHECK(progress_text(point).ends_with("55:32:30 left"));
}
