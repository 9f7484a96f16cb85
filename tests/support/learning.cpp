#include "tests/support/learning.h"

#include <doctest/doctest.h>

#include <set>

#include "tests/support/run_program.h"
#include "tests/support/training_run.h"
#include "train/optim/schedule.h"
#include "train/step.h"

namespace heed::testing {

namespace fs = std::filesystem;

namespace {

constexpr int64_t most_steps = 300, most_by_plain_descent = 2000;
constexpr double learned = 0.05;

// Models that cannot distinguish the 64 sequences of a batch. Attention without weights stays at a
// loss of 0.84, even with a quarter of the learning rate and 3,000 steps. A bag of words only
// counts the words of a sentence; it does not know their positions.
const std::set<std::string> without_trained_attention = {"sort_simple_attention",
                                                         "negation_bag_of_words"};

// 30 ms a step and more with the config's batch: a dozen GPTs that differ in their attention.
bool is_slow(const std::string& config) {
  return config.starts_with("shakespeare") || config.starts_with("reorder") ||
         config.starts_with("reviews") || config == "digits" || config == "quickstart";
}

// Which document comes is chance: of several, nothing tells the first letter.
bool learns_one(const std::string& config) { return config == "names" || config == "microgpt"; }

int64_t most_steps_of(const std::string& config) {
  return config == "six_vectors" || config == "moons" ? most_by_plain_descent : most_steps;
}

// Steps until the loss of the batch is below `learned`, or a number above most_steps_of if it never
// is. The schedule is the config's, and so is the batch size unless that takes long.
int64_t steps_to_learn(const fs::path& config) {
  std::vector<std::string> sets = {"train.overfit_batch=true"};
  const std::string name = config.stem().string();
  if (learns_one(name)) {
    sets.emplace_back("train.batch_size=1");
  } else if (address_sanitizer || without_trained_attention.contains(name)) {
    sets.emplace_back("train.batch_size=2");
  } else if (is_slow(name)) {
    sets.emplace_back("train.batch_size=3");
  }
  const Stepping run(load_run(read_run_tree(config, sets), config.parent_path()));
  const RunConfig& c = run.loaded.config;
  const auto schedule =
      schedule_registry().make(c.schedule, ScheduleSetup{run.optimizer->base_lr(), c.train.steps});
  const Batch batch = batch_to_overfit(run.loaded.task->data(), c);
  int64_t step = 1;
  while (step <= most_steps_of(name) && train_step(*run.model, *run.loaded.task, *run.optimizer,
                                                   c.train, schedule->lr(step), &batch)
                                                .loss >= learned) {
    ++step;
  }
  return step;
}

}  // namespace

int64_t expect_to_learn(const std::vector<fs::path>& configs) {
  int64_t trained = 0;
  for (const fs::path& config : configs) {
    const std::string name = config.stem().string();
    if (is_float64 || name == "gpt2_124m" || name == "smollm2_135m") continue;
    const int64_t steps = steps_to_learn(config);
    CHECK_MESSAGE(steps <= most_steps_of(name), name, ": ", steps, " steps");
    ++trained;
  }
  return trained;
}

}  // namespace heed::testing
