#include "tools/commands/trial_steps.h"

#include <algorithm>

#include "train/weights/freeze.h"

namespace heed::cli {

namespace {

// Freezes, and returns what is left to train.
std::vector<NamedParameter> frozen(Module& model, const std::vector<std::string>& patterns) {
  freeze(model, patterns);
  return trained_parameters(model);
}

}  // namespace

TrialSteps::TrialSteps(const LoadedRun& run)
    : run_(run),
      model_(make_layer(run.config.model)),
      optimizer_(optimizer_registry().make(run.config.optimizer,
                                           frozen(*model_, run.config.train.freeze))),
      schedule_(schedule_registry().make(run.config.schedule,
                                         {optimizer_->base_lr(), run.config.train.steps})) {}

StepResult TrialSteps::next() {
  const int64_t last = run_.config.train.steps;  // of the schedule
  const double lr = schedule_->lr(std::min(++done_, last));
  return train_step(*model_, *run_.task, *optimizer_, run_.config.train, lr);
}

}  // namespace heed::cli
