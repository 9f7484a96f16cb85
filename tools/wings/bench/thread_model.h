// What more threads would gain: computed from how long each chunk of each shared loop takes on one
// thread. Memory bandwidth, clock rates and the cores' shared caches are not in it, so it is a
// bound.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "tools/wings/bench/loop_times.h"

namespace heed::cli {

// The seconds of a loop on `threads` threads: each thread that is free takes the next chunk.
double makespan(std::span<const double> chunks, int threads);

// The seconds that a shared loop costs by itself, apart from its chunks: measured with as many
// threads as there are cores, and growing by as much for each doubling beyond.
double region_seconds(int threads);

// The median of each time over several steps, which were interrupted at different places. If their
// loops differ, the step whose total is the median.
StepTimes typical(std::vector<StepTimes> steps);

struct StepModel {
  double seconds = 0;  // on that many threads
  double serial = 0;   // seconds outside of loops, and in loops of one chunk
  // Seconds that the threads wait, divided by their number, by operation.
  std::map<std::string, double> idle;
};
StepModel model_step(const StepTimes& times, int threads);

}  // namespace heed::cli
