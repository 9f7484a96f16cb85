// What an evaluation counts, and the sum of what several processes have counted.
#pragma once

#include <vector>

#include "train/data/task.h"
#include "train/wings/processes/communicator.h"

namespace heed {

struct Tally {
  std::vector<double> losses;  // of each batch
  int64_t counted = 0;         // targets
  int64_t bytes = 0;           // that they stand for
  Score score;

  double loss() const;  // added in the order of the batches
};

// Each process gives the tally of its batches, which follow those of the ranks before it.
Tally sum_of_all(Communicator& ranks, Tally own);

}  // namespace heed
