// Training that starts from weights, freezes some of them, or adds to them: train.weights,
// train.freeze, train.lora.
#pragma once

#include "train/run_hooks.h"

namespace heed {

class FineTuning final : public RunHooks {
 public:
  static constexpr const char* help = "from weights that are there, all of them or some";
  using Config = NoFields;

  explicit FineTuning(const Config&) {}

  Path vocabularies(const RunConfig& config, const Path& folder) const override;
  void check(const RunConfig& config, const ConfigNode& tree, ConfigErrors& errors) const override;
  // Makes train.weights absolute. Unless all weights are in `checkpoint`, finds their file for
  // LoadedRun::weights and adds its hash to the config.
  void find_files(LoadedRun& run, const ConfigNode& tree, const Path& folder,
                  const Path& checkpoint, ConfigErrors& unreadable) const override;
  // Warns if the ids of the weights mean something else in the data of the run.
  void resolve(LoadedRun& run, const Path& folder) const override;
  void check_resumed(const ConfigNode& before, const ConfigNode& now) const override;
  // Fills the parameters from LoadedRun::weights, if there are any, and adds train.lora; freezes
  // what is not to be trained. In a dry run weights are compared only. Checkpoints of a model with
  // train.lora leave out what LoadedRun::weights hold, unless checkpoint.full.
  void prepare(Module& model, const LoadedRun& run, ConfigErrors& errors) const override;
  // Puts what train.lora has learned into the model's own weights, and takes it off.
  void on_loaded(Module& model, const LoadedRun& run) const override;
  // In what the model computes another function of the weights than that they were made with.
  std::vector<std::string> about_model(const LoadedRun& run, Module& model) const override;
  std::vector<std::pair<std::string, std::string>> details(const LoadedRun& run) const override;
};
HEED_RUN_HOOKS(FineTuning, "fine_tuning");

}  // namespace heed
