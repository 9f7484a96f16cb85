// One step of training: batches, forward, backward, clipping, update.
#pragma once

#include <functional>

#include "train/config/run_config.h"
#include "train/optim/optimizer.h"
#include "train/workers.h"

namespace heed {

struct StepResult {
  double loss = 0;         // mean over counted targets, before the update
  double grad_norm = 0;    // of all gradients together, before clipping
  int64_t tokens = 0;      // counted targets
  NamedLosses added = {};  // by layers, each a mean as `loss`
};

// The parameters that are not frozen.
std::vector<NamedParameter> trained_parameters(const Module& model);

// Throws DivergedError, before any weight changes, if the loss or a gradient is not finite. With
// `only`, that is the batch instead of the task's next one. All workers call it; each computes its
// shards of the step, and all get the same result, weights and random streams. There is no update
// if may_update(grad_norm, scale) says so: times `scale`, gradients are those of the mean loss.
StepResult train_step(Module& model, Task& task, Optimizer& optimizer, const TrainConfig& config,
                      double lr, const Batch* only = nullptr, Workers& workers = one_worker(),
                      const std::function<bool(double grad_norm, double scale)>& may_update = {});

// The batch of all steps under train.overfit_batch: the first one drawn from a
// generator of its own, so that a resumed run gets the same batch.
Batch batch_to_overfit(Dataset& dataset, const RunConfig& config);

}  // namespace heed
