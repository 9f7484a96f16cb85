// The examples that a model finds hardest.
#pragma once

#include "train/data/task.h"

namespace heed {

// Adds those of a batch with numbers to Score::hardest. logits (B, ..., V): each example's loss is
// its mean over the targets that count.
void add_hardest(const Array& logits, const Batch& batch, Score& score);

}  // namespace heed
