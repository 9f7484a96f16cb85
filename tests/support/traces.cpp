#include "tests/support/traces.h"

#include <doctest/doctest.h>

#include <cmath>

#include "train/config/run_hooks.h"
#include "train/optim/schedule.h"
#include "train/step.h"
#include "train/yaml/yaml.h"

namespace heed::testing {

Trace trace_of(const std::string& config, const std::filesystem::path& folder) {
  const LoadedRun run = load_run(parse_config(config, "trace.yaml"), folder);
  apply_settings(run.config);
  const TrainConfig& train = run.config.train;
  const auto model = make_model(run);
  const auto optimizer =
      optimizer_registry().make(run.config.optimizer, trained_parameters(*model));
  const auto schedule = schedule_registry().make(run.config.schedule,
                                                 ScheduleSetup{optimizer->base_lr(), train.steps});
  model->train();
  Trace trace;
  for (int64_t step = 1; step <= train.steps; ++step) {
    const double lr = schedule->lr(step);
    const StepResult result = train_step(*model, *run.task, *optimizer, train, lr);
    trace.loss.push_back(result.loss);
    trace.grad_norm.push_back(result.grad_norm);
    trace.lr.push_back(lr);
  }
  return trace;
}

double worst(const std::vector<double>& got, const std::vector<double>& want, size_t steps,
             const std::function<double(double)>& scale) {
  REQUIRE(got.size() == steps);
  REQUIRE(want.size() == steps);
  double largest = 0;
  for (size_t i = 0; i < steps; ++i) {
    const double difference = std::abs(got[i] - want[i]) / scale(want[i]);
    largest = std::isnan(difference) ? INFINITY : std::max(largest, difference);
  }
  return largest;
}

}  // namespace heed::testing
