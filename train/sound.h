// Whether a loss, gradients and weights are finite. All functions throw DivergedError.
#pragma once

#include "train/data/task.h"

namespace heed {

void require_finite(double value, const std::string& what);

// Names the first gradient that is not finite. norm: that of all of them.
void require_finite_gradients(double norm, const std::vector<NamedParameter>& parameters);

// For a checkpoint: all weights are finite and give a finite loss.
// The loss of a step is computed before its update, so it does not show whether the last update was
// bad. Finite weights can still be too large for a forward pass, so one fixed batch is evaluated.
void require_sound_weights(Module& model, Task& task, int64_t batch_size, uint64_t seed);

}  // namespace heed
