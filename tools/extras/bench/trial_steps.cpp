#include "tools/extras/bench/trial_steps.h"

#include <algorithm>

#include "train/config/run_hooks.h"

namespace heed::cli {

TrialSteps::TrialSteps(const LoadedRun& run, Workers& workers)
    : run_(run),
      workers_(workers),
      model_(make_model(run)),
      optimizer_(optimizer_registry().make(run.config.optimizer, trained_parameters(*model_))),
      schedule_(schedule_registry().make(run.config.schedule,
                                         {optimizer_->base_lr(), run.config.train.steps})) {}

StepResult TrialSteps::next() {
  const int64_t last = run_.config.train.steps;  // of the schedule
  const double lr = schedule_->lr(std::min(++done_, last));
  return train_step(*model_, *run_.task, *optimizer_, run_.config.train, lr, nullptr, workers_);
}

}  // namespace heed::cli
