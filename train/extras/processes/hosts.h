// What processes tell each other before a run: where they are, and that they are of one kind.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "train/extras/processes/communicator.h"

namespace heed {

std::string host_name();  // of this machine, printable

// One process, as the plan shows it.
struct ProcessInfo {
  std::string host;
  std::string cpus;  // that it may use: "0-3"
  int threads = 1;
};

// All processes, by rank. Sets the number of threads of this one: the cores that it may use,
// divided among the processes on this host that may use the same ones. A number that was set is
// kept.
std::vector<ProcessInfo> divide_threads(Communicator& ranks);

// "rank 2 on desktop"
std::string name_of(int rank, const std::vector<ProcessInfo>& processes);

// "3: ranks 0 to 1 on laptop, 1 thread each; rank 2 on desktop, 4 threads"
std::string describe(const std::vector<ProcessInfo>& processes);

// Throws ConfigError on all processes unless the values are the same on all of them, by name: the
// message names the first difference to rank 0, with both processes and values.
void require_same(Communicator& ranks, const std::vector<ProcessInfo>& processes,
                  const std::map<std::string, std::string>& values);

}  // namespace heed
