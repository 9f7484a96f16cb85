// Small runs that are trained as a whole and in two parts.
#pragma once

#include <string>
#include <vector>

#include "tests/support/compare_runs.h"
#include "tests/support/training_run.h"
#include "train/trainer.h"

namespace heed::testing {

// Trains folder/NAME, with `hooks` if they are given.
inline void train_small(const TempDir& folder, const std::string& name,
                        const std::vector<std::string>& sets, RunHooks* hooks = nullptr,
                        Workers& workers = one_worker()) {
  Trainer trainer(load_small(folder, sets), RunFolder::create(folder / name, ""), {}, workers);
  if (hooks != nullptr) trainer.add_hooks(*hooks);
  trainer.train();
}

// Trains `steps` steps, and again as if it had been killed after step `end`. Checks that the
// checkpoints, rows and samples of both have the same bytes.
inline void check_resumed(const std::vector<std::string>& sets, int end, int steps) {
  const TempDir folder;
  train_small(folder, "whole", sets);
  copy_ended_after(end, folder / "whole", folder / "rest");
  Trainer(load_small(folder, sets), RunFolder::open(folder / "rest"),
          checkpoint_of(folder / "rest", end))
      .train();
  CHECK(compare_checkpoints(folder / "whole", folder / "rest", steps) == 5);
  CHECK(rows_of(folder / "whole") == rows_of(folder / "rest"));
  CHECK(read_text(folder / "whole/samples.txt") == read_text(folder / "rest/samples.txt"));
}

// The weights after each step.
struct EachStep final : RunHooks {
  void on_begin(const RunInTraining& run, int64_t) override { model = &run.model; }
  void on_metrics(const MetricsRow& row) override {
    after.push_back(weights(*model));
    rows.push_back(row);
  }

  Module* model = nullptr;
  std::vector<std::vector<Array>> after;
  std::vector<MetricsRow> rows;
};

}  // namespace heed::testing
