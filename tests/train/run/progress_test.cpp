#include "train/run/progress.h"

#include <doctest/doctest.h>

#include "tests/support/run_program.h"

using namespace heed;
using heed::testing::contains;

namespace {

const ProgressPoint point{.first_step = 0,
                          .step = 500,
                          .steps = 2000,
                          .loss = 1.94119,
                          .val_loss = {},
                          .lr = 9.1e-4,
                          .tokens = 498400,
                          .seconds = 10,
                          .in_steps = 8};

}  // namespace

TEST_CASE("progress: the line") {
  ProgressPoint p = point;
  CHECK(progress_text(p) == "step  500/2000  loss 1.9412  lr 9.1e-04   62,300 tok/s  0:30 left");
  p.val_loss = 1.988;
  CHECK(progress_text(p) ==
        "step  500/2000  loss 1.9412  val 1.9880  lr 9.1e-04   62,300 tok/s  0:30 left");
  p.added = {{"load_balancing", 0.0812}};
  CHECK(
      progress_text(p) ==
      "step  500/2000  loss 1.9412  val 1.9880  load_balancing 0.0812  lr 9.1e-04   62,300 tok/s  "
      "0:30 left");
  p.added.clear();
  p.first_step = 400;  // the speed of this process alone
  CHECK(progress_text(p).ends_with("62,300 tok/s  2:30 left"));
  p.in_steps = 0;
  CHECK(progress_text(p) == "step  500/2000  loss 1.9412  val 1.9880  lr 9.1e-04");
  p.step = 500, p.tokens = 498400;
  p.in_steps = 8;
  p.first_step = 499, p.steps = 20000;
  CHECK(progress_text(p).ends_with("54:10:00 left"));
}

TEST_CASE("progress: the lines of a run have the same columns") {
  ProgressPoint p = point;
  p.evaluates = true;
  const std::string wide = progress_text(p);
  CHECK(wide == "step  500/2000  loss 1.9412              lr 9.1e-04   62,300 tok/s  0:30 left");
  for (const double loss : {10.82493, 1.0, 0.0013, 9.8e-4, 4.2e-5}) {
    p.step = 1, p.loss = loss, p.val_loss = loss, p.lr = loss;
    const std::string line = progress_text(p);
    for (const char* column : {"/", "  loss ", "  lr ", " tok/s"}) {
      CHECK_MESSAGE(line.find(column) == wide.find(column), line);
    }
  }
  p.loss = 9.8e-4;
  CHECK(progress_text(p).starts_with("step    1/2000  loss 0.0010  val "));
  CHECK(progress_text(p, "##########").starts_with("step    1/2000  loss 0.0010  val "));
  p.val_loss = {};
  CHECK(progress_text(p, "##########").starts_with("step    1/2000  loss 0.0010  ##########  lr "));
}

TEST_CASE("progress: what a terminal has no room for is left out, the same in each line") {
  ProgressPoint p = point;
  p.val_loss = 1.988;
  const std::string line = progress_text(p);
  CHECK(progress_text(p, "", line.size()) == line);
  CHECK(progress_text(p, "", line.size() - 1) ==
        "step  500/2000  loss 1.9412  val 1.9880   62,300 tok/s  0:30 left");
  CHECK(progress_text(p, "", 60) == "step  500/2000  loss 1.9412  val 1.9880  0:30 left");
  p.val_loss = {};  // three bytes a cell, one column
  CHECK(progress_text(p, "█▆▅▃▂▂░░░░", line.size()).size() == line.size() + 20);
}
