// What a process does for the micro-batches of others.
#pragma once

#include "layers/module/module.h"
#include "train/data/dataset.h"

namespace heed {

// Advances the stream of dropout as a forward pass over the batch would, without its arithmetic:
// the model runs dry, which gives the shapes of all masks. Masks are then those of a single
// process, for which the micro-batches of a step follow each other.
void pass_over(Module& model, const Batch& batch);

}  // namespace heed
