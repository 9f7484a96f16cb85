// Training on a single batch, to see whether a model can learn at all.
#pragma once

#include "train/config/run_config.h"

namespace heed {

// From now on the run's task gives one batch, every time: the first that it draws from a generator
// with the config's seed. Dropout is off everywhere in the model. load_run() does this when
// train.overfit_batch is true.
void overfit_one_batch(LoadedRun& run);

}  // namespace heed
