#include "autograd/base/modes.h"

#include <doctest/doctest.h>

#include "autograd/base/real.h"
#include "tests/support/run_program.h"

using namespace heed;

TEST_CASE("modes: a program with hidden symbols shares the library's switches") {
  const auto probe = testing::run_program(is_float64 ? "hidden_probe_f64" : "hidden_probe_f32", {});
  CHECK(probe.exit_code == 0);
  CHECK(probe.out == "");  // the switches that it does not share
  CHECK(probe.err == "");
}
