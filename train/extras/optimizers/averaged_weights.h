// train.ema: a running mean of the weights, by which a run is evaluated and samples, and which
// `heed eval`, `heed generate` and all others that ask a run take in place of its last weights.
//   m <- w                         after the first step
//   m <- m + (1 - decay) (w - m)   after each further one
// As torch.optim.swa_utils.AveragedModel with get_ema_multi_avg_fn(decay). Training itself goes on
// with w.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "layers/config/section_keys.h"
#include "train/run_hooks.h"

namespace heed {

struct EmaConfig {
  std::optional<double> decay;  // none: no mean
  void fields(Fields& f);
};

struct EmaKeys {
  EmaConfig ema;

  void fields(Fields& f) {
    f.group("ema", ema, "a running mean of the weights, to evaluate, sample and save in addition");
  }
};
HEED_KEYS(EmaKeys, "train");

// The file of the mean, where train.ema has a decay and the run's checkpoint a mean; else "".
std::filesystem::path mean_of(const LoadedRun& run);

// The mean of all parameters that are trained is in memory beside them, and in each checkpoint as
// average.safetensors, a file like model.safetensors. Registered under a name before that of
// "fine_tuning", which merges adapters into the weights that are loaded here.
class AveragedWeights final : public RunHooks {
 public:
  static constexpr const char* help = "a running mean of the weights";
  using Config = NoFields;

  explicit AveragedWeights(const Config& = {}) {}

  // Loads the mean, if train.ema has a decay and the checkpoint a mean.
  void on_loaded(Module& model, const LoadedRun& run) const override;
  std::vector<std::pair<std::string, std::string>> details(const LoadedRun& run) const override;
  // Warns of a mean that is longer than the run.
  std::vector<std::string> about_run(const LoadedRun& run, const Plan& plan) const override;

  void on_start(const RunInTraining& run) override;
  std::string objection(double grad_norm) override;  // it has none
  void exchange_weights() override;
  void on_save(const Path& folder, std::map<std::string, Fingerprint>& files) override;

 private:
  // The mean of one parameter.
  struct Update {
    real* mean;
    const real* weights;
    real rest;  // 1 - decay

    void operator()(int64_t begin, int64_t end) const;
  };

  void take_in();

  Module* model_ = nullptr;  // null without train.ema
  bool stepped_ = false;     // the mean does not have the last step yet
  real rest_ = 0;
  std::vector<NamedParameter> trained_;
  std::vector<Array> mean_;  // of each; empty before the first update
};
HEED_RUN_HOOKS(AveragedWeights, "averaged_weights");

}  // namespace heed
