// A trained model from a RUN argument, for the commands that look at one.
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

// Hands over to the program of the precision that the config names, if it names one.
void require_precision_of(const ConfigNode& config);

// Hands over to the program of the run's precision if that is the other one. Warnings about damaged
// checkpoints go to standard error.
TrainedRun load_trained(const std::string& run);

}  // namespace heed::cli
