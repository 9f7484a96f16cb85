// One step of training: batches, forward, backward, clipping, update.
#pragma once

#include "train/config/run_config.h"
#include "train/optim/optimizer.h"

namespace heed {

struct StepResult {
  double loss = 0;       // mean over counted targets, before the update
  double grad_norm = 0;  // of all gradients together, before clipping
  int64_t tokens = 0;    // counted targets
};

// Throws DivergedError, before any weight changes, if the loss or a gradient is not finite.
StepResult train_step(Module& model, Task& task, Optimizer& optimizer, const TrainConfig& config,
                      double lr);

}  // namespace heed
