// Training on a single batch, to see whether a model can learn at all.
#pragma once

#include "train/run_config.h"

namespace heed {

// From now on the run's task gives the first batch it would have given, every time, and dropout is
// off everywhere in the model.
void overfit_one_batch(LoadedRun& run);

}  // namespace heed
