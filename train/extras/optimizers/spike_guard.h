// train.skip_spikes: a step is left out if the norm of its gradients is that many deviations above
// its running mean. The weights and the state of the optimizer then stay as they are.
//
// Mean m and variance v of the norms x_1, x_2, ..., those of step t = x_t with n = min(t, 100):
//   d <- x - m,  m <- m + d / n,  v <- v + (d (x - m) - v) / n
// This is the mean and the variance of all norms up to the 100th, and then forgets one in a hundred
// (Welford 1962 with a window). A norm above the limit enters as the limit itself: one spike hardly
// moves the mean, but where norms stay high, m and v follow, and training goes on.
#pragma once

#include <optional>

#include "layers/config/section_keys.h"
#include "train/run_hooks.h"

namespace heed {

struct SpikeKeys {
  std::optional<double> skip_spikes;  // deviations

  void fields(Fields& f) {
    f.optional("skip_spikes", skip_spikes, above(0),
               "deviations of the norm of gradients above its mean that have a step left out");
  }
};
HEED_KEYS(SpikeKeys, "train");

// The running mean, without a run.
class SpikeStatistics {
 public:
  static constexpr double window = 100;  // norms
  static constexpr double first = 20;    // norms that are never judged: there is no mean yet

  // Takes the norm of a step in. True if it is a spike.
  bool add(double norm, double limit);

  // How many deviations the last norm was above the mean before it.
  double deviations() const { return deviations_; }

  struct State {
    double norms = 0, mean = 0, variance = 0, spikes = 0;
    bool operator==(const State&) const = default;
  };
  State state;

 private:
  double deviations_ = 0;
};

// Checkpoints have spikes.safetensors: a tensor "state" of F64 (4), the members of State.
class SpikeGuard final : public RunHooks {
 public:
  static constexpr const char* help = "leaves out steps with gradients far above their mean";
  using Config = NoFields;

  explicit SpikeGuard(const Config& = {}) {}

  // Warns of a run that has no step to leave out.
  std::vector<std::string> about_run(const LoadedRun& run, const Plan& plan) const override;
  void on_start(const RunInTraining& run) override;
  std::string objection(double grad_norm) override;
  void on_save(const Path& folder, std::map<std::string, Fingerprint>& files) override;

 private:
  std::optional<double> limit_;
  SpikeStatistics statistics_;
};
HEED_RUN_HOOKS(SpikeGuard, "spike_guard");

}  // namespace heed
