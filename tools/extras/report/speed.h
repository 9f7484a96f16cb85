// The speed of training alone, computed from metrics.csv.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "train/run/metrics.h"

namespace heed {

// What interrupts training between two rows of metrics.csv.
struct Pauses {
  std::map<int64_t, double> evaluations;  // seconds that the evaluation of a step took
  std::vector<int64_t> every;             // steps between samples, between checkpoints
};

struct Speed {
  int64_t step = 0;  // the end of the stretch
  double tokens = 0;
  double seconds = 0;
};

// The tokens and seconds of the stretches between rows that contain training only. If there are
// none (every row is an evaluation), all stretches, without the known seconds of evaluations.
std::vector<Speed> training_speed(std::span<const MetricsRow> rows, const Pauses& pauses);

// At most `most` stretches, by merging neighbours.
std::vector<Speed> merged(std::span<const Speed> speeds, size_t most);

}  // namespace heed
