// Training on a single batch, to check that a model can learn at all.
#pragma once

#include <memory>

#include "train/data/task.h"

namespace heed {

// Wraps the task `of` so that every step gets the same batch: the first one drawn from a generator
// with this seed.
std::unique_ptr<Task> fixed_batch(std::unique_ptr<Task> of, uint64_t seed);

}  // namespace heed
