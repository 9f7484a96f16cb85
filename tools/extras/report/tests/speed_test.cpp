// Which stretches between the rows of metrics.csv count for the speed of training.
#include "tools/extras/report/speed.h"

#include <doctest/doctest.h>

using namespace heed;

namespace {

// A row every 10 steps of 100 tokens. A step takes 0.1 s, an evaluation 5 s before its row, a
// sample 3 s after it.
std::vector<MetricsRow> rows_with_pauses(int64_t evaluate_every, int64_t sample_every) {
  std::vector<MetricsRow> rows;
  double seconds = 0;
  for (int64_t step = 10; step <= 200; step += 10) {
    seconds += 1;
    MetricsRow row{.step = step, .loss = 1.0, .tokens = 100 * step};
    if (step % evaluate_every == 0) {
      seconds += 5;
      row.val_loss = 1.0;
    }
    row.seconds = seconds;
    rows.push_back(row);
    seconds += step % sample_every == 0 ? 3 : 0;
  }
  return rows;
}

}  // namespace

TEST_CASE("report speed: evaluations, samples and checkpoints do not slow training down") {
  const std::vector<MetricsRow> rows = rows_with_pauses(40, 50);
  const std::vector<Speed> speed = training_speed(rows, {.evaluations = {}, .every = {50, 0}});
  CHECK(speed.size() == 8);  // of 19; the others end or begin at an evaluation or a sample
  for (const Speed& of : speed) {
    CHECK(of.tokens == 1000);
    CHECK(of.seconds == doctest::Approx(1));
  }
  const Speed all = merged(speed, 1).front();
  CHECK(all.tokens / all.seconds == doctest::Approx(1000));
}

TEST_CASE("report speed: if every row is an evaluation, its known seconds are subtracted") {
  const std::vector<MetricsRow> rows = rows_with_pauses(10, 1000);
  std::map<int64_t, double> evaluations;
  for (const MetricsRow& row : rows) evaluations[row.step] = 5;
  const std::vector<Speed> known = training_speed(rows, {.evaluations = evaluations, .every = {}});
  REQUIRE(known.size() == 19);
  for (const Speed& of : known) CHECK(of.seconds == doctest::Approx(1));
  const std::vector<Speed> unknown = training_speed(rows, {});
  REQUIRE(unknown.size() == 19);
  for (const Speed& of : unknown) CHECK(of.seconds == doctest::Approx(6));
}

TEST_CASE("report speed: a sample between two rows disturbs the stretch") {
  std::vector<MetricsRow> rows;
  for (int64_t step = 100; step <= 400; step += 100) {
    rows.push_back({.step = step, .tokens = step, .seconds = static_cast<double>(step)});
  }
  const auto stretches = [&](int64_t every) {
    return training_speed(rows, {.evaluations = {}, .every = {every}}).size();
  };
  CHECK(stretches(1000) == 3);
  CHECK(stretches(250) == 2);
  CHECK(stretches(200) == 2);  // after step 200
  CHECK(stretches(400) == 3);  // after the last row
}

TEST_CASE("report speed: neighbours are merged, nothing is lost") {
  std::vector<Speed> speeds;
  for (int64_t i = 1; i <= 10; ++i) speeds.push_back({i, 2, 1});
  const std::vector<Speed> four = merged(speeds, 4);
  REQUIRE(four.size() == 4);
  CHECK(four[0].step == 3);
  CHECK(four[3].step == 10);
  double tokens = 0;
  for (const Speed& of : four) tokens += of.tokens;
  CHECK(tokens == 20);
  CHECK(merged(speeds, 100).size() == 10);
  CHECK(merged({}, 5).empty());
}
