#include "autograd/random/streams.h"
#include "layers/module/module.h"
#include "tests/support/learning.h"
#include "tests/support/near.h"
#include "tests/support/run_program.h"
#include "tests/support/source_tree.h"
#include "tests/support/training_run.h"
#include "train/step.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("overfit_batch: the batch of a seed, drawn from a generator of its own") {
  const TempDir folder;
  const auto load = [&] {
    return load_small(folder, {"train.overfit_batch=true", "model.dropout=0.3"});
  };
  const LoadedRun run = load();
  apply_settings(run.config);
  const StreamsState before = streams().state();
  const Batch first = batch_to_overfit(run.task->data(), run.config),
              second = batch_to_overfit(load().task->data(), run.config);
  CHECK(streams().state() == before);
  CHECK(first.targets.size() == 32);
  CHECK(std::equal(first.targets.data(), first.targets.data() + 32, second.targets.data()));
  CHECK(run.resolved.get("model").get("dropout").text() == "0");
}

TEST_CASE("overfit_batch: every config of the core learns a batch by heart") {
  const auto configs = layout::configs_of_core();
  CHECK((expect_to_learn(configs) == std::ssize(configs) - 2 || is_float64));  // two are too large
}
