// Loads a trained model from a RUN argument, for the commands that inspect one.
#pragma once

#include <memory>
#include <string>

#include "tools/commands/command.h"
#include "train/checkpoint/checkpoint.h"
#include "train/config/run_config.h"

namespace heed::cli {

struct TrainedRun {
  LoadedRun loaded;
  std::unique_ptr<Module> model;  // in evaluation mode
  TrainingState state;
};

// Switches to the program of the config's precision (require_precision), if it names one.
void require_precision_of(const RunTree& config);

// Loads a run, switching to the program of its precision if necessary. Prints warnings about
// damaged checkpoints to standard error.
TrainedRun load_trained(const std::string& run);

}  // namespace heed::cli
