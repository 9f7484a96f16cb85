#include "train/optim/schedule.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

using namespace heed;

namespace {

std::unique_ptr<Schedule> made(const std::string& type, const ConfigNode& options, double lr,
                               int64_t steps) {
  return schedule_registry().make(type, options, ScheduleSetup{lr, steps});
}

ConfigNode falling(int64_t warmup_steps, double min_lr) {
  return ConfigNode::map({{"warmup_steps", warmup_steps}, {"min_lr", min_lr}});
}

}  // namespace

TEST_CASE("schedule: values at the edges") {
  struct Row {
    const char* type;
    int64_t warmup, steps;
    double min_lr;
    int64_t step;
    double lr;  // expected; the full rate is 8
  };
  const Row rows[] = {
      {"constant", 0, 10, 0, 1, 8}, {"constant", 0, 10, 0, 10, 8}, {"constant", 3, 10, 0, 1, 2},
      {"constant", 3, 10, 0, 3, 6}, {"constant", 3, 10, 0, 4, 8},  {"constant", 3, 1, 0, 1, 2},
      {"linear", 0, 4, 0, 1, 8},    {"linear", 0, 4, 0, 2, 6},     {"linear", 0, 4, 0, 4, 2},
      {"linear", 0, 4, 4, 3, 6},    {"linear", 3, 7, 0, 1, 2},     {"linear", 3, 7, 0, 4, 8},
      {"linear", 3, 7, 0, 5, 6},    {"linear", 3, 7, 0, 7, 2},     {"linear", 1, 1, 0, 1, 4},
      {"linear", 1, 1, 0, 2, 8},    {"linear", 0, 4, 1, 100, 1},   {"linear", 0, 1, 0, 1, 8},
      {"cosine", 0, 4, 0, 1, 8},    {"cosine", 0, 4, 0, 3, 4},     {"cosine", 0, 4, 2, 3, 5},
      {"cosine", 3, 7, 0, 1, 2},    {"cosine", 3, 7, 0, 3, 6},     {"cosine", 3, 7, 0, 4, 8},
      {"cosine", 3, 7, 0, 6, 4},    {"cosine", 0, 1, 0, 1, 8},     {"cosine", 5, 3, 0, 3, 4},
      {"cosine", 5, 3, 0, 6, 8},    {"cosine", 0, 4, 1, 5, 1},     {"cosine", 0, 4, 1, 1000, 1},
  };
  for (const Row& row : rows) {
    CAPTURE(row.type);
    CAPTURE(row.warmup);
    CAPTURE(row.steps);
    CAPTURE(row.step);
    const ConfigNode options = std::string(row.type) == "constant"
                                   ? ConfigNode::map({{"warmup_steps", row.warmup}})
                                   : falling(row.warmup, row.min_lr);
    CHECK(made(row.type, options, 8, row.steps)->lr(row.step) ==
          doctest::Approx(row.lr).epsilon(1e-15));
  }
}

TEST_CASE("schedule: stable_decay keeps the full rate, then falls in a straight line") {
  const auto rate = [](int64_t warmup, int64_t steps, double fraction, int64_t step) {
    const ConfigNode options =
        ConfigNode::map({{"warmup_steps", warmup}, {"min_lr", 2.0}, {"decay_fraction", fraction}});
    return made("stable_decay", options, 8, steps)->lr(step);
  };
  for (int64_t step = 1; step <= 5; ++step) CHECK(rate(0, 8, 0.5, step) == 8);
  CHECK(rate(0, 8, 0.5, 7) == 5);
  CHECK(rate(0, 8, 0.5, 8) == 3.5);
  CHECK(rate(0, 8, 0.5, 100) == 2);
  CHECK(rate(3, 7, 0.5, 2) == 4);  // the warm-up
  CHECK(rate(3, 7, 0.5, 6) == 8);
  CHECK(rate(3, 7, 0.5, 7) == 5);
  CHECK(rate(0, 4, 1, 3) == made("linear", falling(0, 2), 8, 4)->lr(3));
}

TEST_CASE("schedule: nanoGPT's settings, step by step") {
  // nanoGPT: lr 1e-3, 100 warm-up iterations, 2000 in all, min_lr 1e-4; it = step - 1.
  const auto schedule = made("cosine", falling(100, 1e-4), 1e-3, 2000);
  for (int64_t it = 0; it < 2000; ++it) {
    const double ratio = static_cast<double>(it - 100) / 1900;
    const double want = it < 100 ? 1e-3 * static_cast<double>(it + 1) / 101
                                 : 1e-4 + 0.5 * (1 + std::cos(std::numbers::pi * ratio)) * 9e-4;
    REQUIRE(schedule->lr(it + 1) == doctest::Approx(want).epsilon(1e-14));
  }
}

TEST_CASE("schedule: never 0, never NaN, never above the full rate") {
  int64_t looked_at = 0;
  for (const char* type : {"constant", "linear", "cosine", "stable_decay"}) {
    for (const int64_t steps : {1, 2, 3, 10}) {
      for (const int64_t warmup : {0, 1, 2, 3, 9, 10, 11, 100}) {
        const auto schedule = made(type, ConfigNode::map({{"warmup_steps", warmup}}), 0.5, steps);
        for (int64_t step = 1; step <= steps; ++step) {
          const double lr = schedule->lr(step);
          REQUIRE(lr > 0);
          REQUIRE(lr <= 0.5);
          ++looked_at;
        }
        CHECK(schedule->warning().empty() == (warmup == 0 || warmup < steps));
      }
    }
  }
  CHECK(looked_at == 4 * 8 * 16);
}

TEST_CASE("schedule: a warm-up as long as the run is worth a warning") {
  CHECK(made("cosine", falling(100, 0), 0.5, 50)->warning() ==
        "schedule.warmup_steps is 100, but the run has only 50 steps: the learning rate never gets "
        "to 0.5");
}

TEST_CASE("schedule: a warm-up of any length has a rate above 0") {
  const int64_t most = std::numeric_limits<int64_t>::max();
  const auto schedule = made("constant", ConfigNode::map({{"warmup_steps", most}}), 1e-3, 1000);
  CHECK(schedule->lr(1) > 0);
  CHECK(schedule->lr(1000) > schedule->lr(1));
  CHECK(schedule->lr(1000) == doctest::Approx(1 / 9223372036854775808.0));
}
