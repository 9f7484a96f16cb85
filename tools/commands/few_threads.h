// Small networks for which more threads do not pay.
#pragma once

#include <vector>

#include "train/config/run_config.h"

namespace heed::cli {

struct ThreadTrial {
  int threads;
  double seconds;  // of a step, by the model of tools/wings/bench/thread_model.h
};

// The fewest threads that come within 5% of the best. The trials, at least one, are in order of
// threads.
int fewest_that_pay(const std::vector<ThreadTrial>& trials);

// Limits the number of threads to those that pay. A few steps on a network that nobody keeps are
// timed for it. Does nothing if a number was given, or for a larger network: more threads pay
// there, and a step takes too long to try. Returns true if threads are fewer than before. The bits
// of a run do not depend on it.
bool use_threads_that_pay(const LoadedRun& run, int64_t flops_per_step);

}  // namespace heed::cli
