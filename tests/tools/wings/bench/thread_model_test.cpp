#include "tools/wings/bench/thread_model.h"

#include <doctest/doctest.h>

#include <string>

using namespace heed;
using namespace heed::cli;

namespace {

StepTimes step_of(std::vector<std::vector<double>> loops, double before, double after) {
  StepTimes step{{}, after};
  for (std::vector<double>& chunks : loops) {
    step.loops.push_back({"op", before, std::move(chunks)});
  }
  return step;
}

}  // namespace

TEST_CASE("thread model: a thread that is free takes the next chunk") {
  const std::vector<double> chunks{3, 1, 1, 1, 4};
  CHECK(makespan(chunks, 1) == doctest::Approx(10));
  CHECK(makespan(chunks, 2) == doctest::Approx(7));  // 3 and 4; 1, 1 and 1 meanwhile
  CHECK(makespan(chunks, 5) == doctest::Approx(4));
  CHECK(makespan(chunks, 64) == doctest::Approx(4));
  CHECK(makespan({}, 2) == 0);
}

TEST_CASE("thread model: what is serial, and who waits") {
  const StepTimes step = step_of({{1, 1, 1, 1}, {2}}, 0.5, 0.25);
  CHECK(step.total() == doctest::Approx(7.25));
  const StepModel model = model_step(step, 4);
  const double region = region_seconds(4);
  CHECK(region > 0);
  CHECK(model.seconds == doctest::Approx(1 + 2 + 1 + 0.25 + region));
  CHECK(model.serial == doctest::Approx(2 + 1 + 0.25));
  CHECK(model.idle.at("") == doctest::Approx(0.25 * 0.75));
  CHECK(model.idle.at("op") == doctest::Approx(region + 2 * 0.75 + 1 * 0.75));
  CHECK(model_step(step, 1).seconds == doctest::Approx(step.total()));
}

TEST_CASE("thread model: the typical step leaves out what interrupted one of several") {
  const std::vector<StepTimes> steps{step_of({{1, 9}}, 0, 0), step_of({{7, 1}}, 0, 0),
                                     step_of({{1, 1}}, 5, 0)};
  const StepTimes step = typical(steps);
  CHECK(step.loops[0].chunks == std::vector<double>{1, 1});
  CHECK(step.loops[0].before == 0);
  // With other loops in each step there is nothing to compare: the middle one.
  CHECK(typical({step_of({{1, 9}}, 0, 0), step_of({{3}}, 0, 0), step_of({{2, 2}}, 0, 0)}).total() ==
        doctest::Approx(4));
}
