// Runs that are cut and resumed, compared with whole ones.
#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "autograd/random/streams.h"
#include "autograd/threads/parallel.h"
#include "tests/support/compare_runs.h"
#include "tests/support/training_run.h"
#include "train/run/metrics.h"
#include "train/trainer.h"

namespace heed::testing {

namespace fs = std::filesystem;

inline const std::vector<std::string> optimizers = {
    "optimizer={type: sgd, lr: 0.5}",
    "optimizer={type: sgd, lr: 0.1, momentum: 0.9, nesterov: true}",
    "optimizer={type: adam, lr: 1e-2, weight_decay: 0.1}",
    "optimizer={type: adamw, lr: 1e-2, betas: [0.8, 0.95], decay: all}"};

inline const std::vector<std::string> schedules = {
    "schedule={type: constant, warmup_steps: 7}",
    "schedule={type: linear, warmup_steps: 2, min_lr: 1e-4}",
    "schedule={type: cosine, warmup_steps: 7, min_lr: 1e-3}"};

// Options of every run: dropout, accumulation, clipping, evaluation.
inline const std::vector<std::string> always = {"model.dropout=0.2",
                                                "train.accumulate=2",
                                                "train.log_every=1",
                                                "train.batch_size=3",
                                                "train.clip_grad_norm=0.5",
                                                "eval={every: 3, batches: 2}",
                                                "checkpoint={every: 5, keep: 9}"};

inline std::vector<std::string> together(const std::vector<std::vector<std::string>>& parts) {
  std::vector<std::string> sets = always;
  for (const auto& part : parts) sets.insert(sets.end(), part.begin(), part.end());
  return sets;
}

inline bool same_samples(const fs::path& a, const fs::path& b) {
  return read_text(a / "samples.txt") == read_text(b / "samples.txt");
}

// Compares a whole run (one thread) with a copy that is cut after step 5 and resumed (three
// threads). `prepare` writes the files that the data needs.
inline void check_resume(
    const std::vector<std::string>& sets,
    const std::function<void(const TempDir&)>& prepare = [](const TempDir&) {}) {
  const TempDir folder;
  prepare(folder);
  const fs::path whole = folder / "whole", parts = folder / "parts";
  set_num_threads(1);
  CHECK(Trainer(load_small(folder, sets), RunFolder::create(whole, "")).train() ==
        Ending::finished);
  copy_ended_after(5, whole, parts);
  manual_seed(99);  // a new process starts with other streams
  streams().data().random32();
  set_num_threads(3);
  Trainer rest(load_run(read_run_tree(parts / "config.yaml"), parts), RunFolder::open(parts),
               checkpoint_of(parts, 5));
  CHECK(rest.train() == Ending::finished);
  CHECK(compare_checkpoints(whole, parts, 10) == 5);
  CHECK(compare_checkpoints(whole, parts, 12) == 5);
  CHECK(rows_of(whole) == rows_of(parts));
  CHECK(read_metrics(whole / "metrics.csv").size() == 12);
  CHECK(same_samples(whole, parts));
}

}  // namespace heed::testing
