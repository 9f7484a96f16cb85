// Training on a single batch, to see whether a model can learn at all.
#pragma once

#include <memory>

#include "train/data/task.h"

namespace heed {

// The task `of` with the same batch at every step: the first one that it draws from a generator of
// this seed.
std::unique_ptr<Task> fixed_batch(std::unique_ptr<Task> of, uint64_t seed);

}  // namespace heed
