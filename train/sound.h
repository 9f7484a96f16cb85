// Whether the weights of a model are worth a checkpoint.
#pragma once

#include "train/data/task.h"

namespace heed {

// Throws DivergedError, which names the step, unless all weights are finite and give a finite loss.
// The loss of a step is computed before its update, so it does not show whether the last update was
// bad. Finite weights can still be too large for a forward pass, so one fixed batch is evaluated.
void require_sound_weights(Module& model, Task& task, int64_t step, int64_t batch_size,
                           uint64_t seed);

}  // namespace heed
