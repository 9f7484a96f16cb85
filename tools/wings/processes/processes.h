// The processes of a run that mpirun has started.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "train/config/run_config.h"
#include "train/wings/processes/communicator.h"
#include "train/wings/processes/host_watch.h"

namespace heed::cli {

struct Processes {
  std::vector<std::string> plan_lines;  // none for a single one
  int on_this_host = 1;
  std::unique_ptr<HostWatch> watch = nullptr;  // ends this process when another's host is gone
};

// Runs a command. Of an error that all processes meet, rank 0 alone tells.
int run_with_others(const std::function<int()>& command);

// The first words between processes, which all understand. Throws ConfigError unless all run the
// same library and command, "heed train --resume" for instance.
void require_same_command(Communicator& ranks, const std::string& command);

// Divides the cores of a machine among its processes, unless the user gave a number of threads.
// Throws ConfigError if the processes differ in what the bits depend on, or are more than the
// shards of a step.
Processes introduce_processes(Communicator& ranks, const LoadedRun& run);

}  // namespace heed::cli
