#include "tools/wings/bench/trial_steps.h"

#include <algorithm>
#include <chrono>

#include "train/weights/freeze.h"
#include "train/wings/processes/optimizer_shards.h"
#include "train/wings/processes/shard_sum.h"

namespace heed::cli {

namespace {

// Freezes, and returns what is left to train.
std::vector<NamedParameter> frozen(Module& model, const std::vector<std::string>& patterns) {
  freeze(model, patterns);
  return trained_parameters(model);
}

}  // namespace

TrialSteps::TrialSteps(const LoadedRun& run, Communicator& ranks)
    : run_(run),
      ranks_(ranks),
      model_(make_layer(run.config.model)),
      optimizer_(optimizer_registry().make(run.config.optimizer,
                                           with_owners(frozen(*model_, run.config.train.freeze),
                                                       run.config.train.shard_optimizer, ranks))),
      schedule_(schedule_registry().make(run.config.schedule,
                                         {optimizer_->base_lr(), run.config.train.steps})) {}

StepResult TrialSteps::next() {
  const int64_t last = run_.config.train.steps;  // of the schedule
  const double lr = schedule_->lr(std::min(++done_, last));
  return train_step(*model_, *run_.task, *optimizer_, run_.config.train, lr, nullptr, ranks_);
}

double TrialSteps::seconds_to_communicate() {
  const auto begin = std::chrono::steady_clock::now();
  ShardSum sum(optimizer_->parameters(), run_.config.train.shards, ranks_);
  for (int64_t shard = 0; shard < sum.own().size(); ++shard) sum.add_shard({});
  sum.finish();
  if (run_.config.train.shard_optimizer) share_weights(optimizer_->parameters(), ranks_);
  optimizer_->zero_grad();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace heed::cli
