// The processes of a run that mpirun has started.
#pragma once

#include <string>

#include "train/config/run_config.h"
#include "train/parallel/communicator.h"

namespace heed::cli {

struct Processes {
  std::string plan_line;  // "" for a single one
  int on_this_host = 1;
};

// Divides the cores of a machine among its processes, unless the user gave a number of threads.
// Throws ConfigError if the processes differ in what the bits depend on, or are more than the
// shards of a step.
Processes introduce_processes(Communicator& ranks, const LoadedRun& run, bool threads_given);

}  // namespace heed::cli
