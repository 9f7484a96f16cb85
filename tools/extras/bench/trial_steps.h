// The trainer's own step, again and again, on a model that nobody keeps: for measurements.
#pragma once

#include <memory>

#include "train/optim/optimizer.h"
#include "train/optim/schedule.h"
#include "train/step.h"

namespace heed::cli {

class TrialSteps {
 public:
  // The run's task gives the batches. The run must outlive this.
  explicit TrialSteps(const LoadedRun& run, Workers& workers = one_worker());

  StepResult next();

 private:
  const LoadedRun& run_;
  Workers& workers_;
  const std::unique_ptr<Module> model_;
  const std::unique_ptr<Optimizer> optimizer_;
  const std::unique_ptr<Schedule> schedule_;
  int64_t done_ = 0;
};

}  // namespace heed::cli
