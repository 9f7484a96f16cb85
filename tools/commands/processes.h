// The processes of a run that mpirun has started.
#pragma once

#include <string>

#include "train/config/run_config.h"
#include "train/parallel/communicator.h"

namespace heed::cli {

// The line of the plan about them; "" for a single one. Divides the cores of a machine among its
// processes, unless the user gave a number of threads. Throws ConfigError if they differ in what
// the bits depend on, or are more than the shards of a step.
std::string processes_text(Communicator& ranks, const LoadedRun& run, bool threads_given);

}  // namespace heed::cli
