// What a run is going to be, worked out before anything is allocated: sizes, arithmetic, memory.
#pragma once

#include <string>
#include <vector>

#include "train/config/run_config.h"

namespace heed {

struct Plan {
  ConfigMark place;  // of the model in the config
  int64_t parameters = 0;
  int64_t training_tokens = 0;  // in the data
  int64_t tokens_per_step = 0;
  int64_t flops_per_step = 0;  // of matrix products and attention, forward and backward
  int64_t weight_bytes = 0;
  int64_t gradient_bytes = 0;
  int64_t optimizer_bytes = 0;
  int64_t activation_bytes = 0;  // what a step needs beyond the above at its worst moment
  int64_t process_bytes = 0;     // the program itself and the data, as they are now
  int64_t total_bytes() const {
    return weight_bytes + gradient_bytes + optimizer_bytes + activation_bytes + process_bytes;
  }
};

// Walks through a training step in a dry run. Streams and task are left as they were. Throws
// ConfigError for a model that cannot work on the data.
Plan make_plan(const LoadedRun& run);

// Throws ConfigError when the run needs more memory than the machine has for it.
void require_memory(const Plan& plan);

// Lines for people: model, data, a step, memory, threads, kernels; warnings last.
std::vector<std::string> describe(const Plan& plan, const LoadedRun& run);

}  // namespace heed
