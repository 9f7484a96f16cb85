// The sum of what several processes have counted in an evaluation.
#pragma once

#include "train/extras/processes/communicator.h"
#include "train/workers.h"

namespace heed {

// Each process gives the tally of its batches, which follow those of the ranks before it.
Tally sum_of_all(Communicator& ranks, Tally own);

}  // namespace heed
