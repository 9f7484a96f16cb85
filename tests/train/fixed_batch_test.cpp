#include "train/fixed_batch.h"

#include "layers/module.h"
#include "tests/support/near.h"
#include "tests/support/training_run.h"
#include "train/schedule.h"
#include "train/step.h"

using namespace heed;
using namespace heed::testing;
namespace fs = std::filesystem;

namespace {

constexpr int64_t most_steps = 300;
constexpr double learned = 0.05;

// Steps until the loss of the one batch is below `learned`; more than most_steps if it never is.
int64_t steps_to_learn(const fs::path& config) {
  LoadedRun run = load_run(read_run_tree(config, {"train.overfit_batch=true", "train.batch_size=2",
                                                  text("train.steps=", most_steps)}),
                           config.parent_path());
  apply_settings(run.config);
  const std::unique_ptr<Module> model = make_layer(run.config.model);
  REQUIRE(model->parameter_count() < 15'000'000);
  const auto optimizer = optimizer_registry().make(run.config.optimizer, model->parameters());
  const auto schedule = schedule_registry().make(
      run.config.schedule, ScheduleSetup{run.config.lr(), run.config.train.steps});
  model->train();
  int64_t step = 1;
  while (step <= most_steps &&
         train_step(*model, *run.task, *optimizer, run.config.train, schedule->lr(step)).loss >=
             learned) {
    ++step;
  }
  return step;
}

}  // namespace

TEST_CASE("fixed batch: always the same one, drawn from a generator of its own") {
  const TempDir folder;
  const LoadedRun run = load_small(folder, {"train.overfit_batch=true", "model.dropout=0.3"});
  apply_settings(run.config);
  const StreamsState before = streams().state();
  const Batch first = run.task->next(4, streams().data()),
              second = run.task->next(4, streams().data());
  CHECK(streams().state() == before);
  CHECK(first.targets.size() == 32);
  CHECK(std::equal(first.targets.data(), first.targets.data() + 32, second.targets.data()));
  CHECK(run.resolved.get("model").get("dropout").text() == "0");
}

// Two sequences of it, and in float32 alone, to stay a short test.
TEST_CASE("fixed batch: every config that comes with heedgrad learns a batch by heart") {
  int configs = 0;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(fs::path(HEED_SOURCE_DIR) / "configs")) {
    if (is_float64 || entry.path().extension() != ".yaml") continue;
    const int64_t steps = steps_to_learn(entry.path());
    CHECK_MESSAGE(steps <= most_steps, entry.path().stem().string(), ": ", steps, " steps");
    ++configs;
  }
  CHECK((is_float64 || configs >= 11));
}
