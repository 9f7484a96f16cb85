// Training that starts from weights, freezes some of them, or adds to them: train.weights,
// train.freeze, train.lora.
#pragma once

#include "train/config/model_start.h"

namespace heed {

class FineTuningStart final : public ModelStart {
 public:
  static constexpr const char* help = "from weights that are there, all of them or some";
  using Config = NoFields;

  explicit FineTuningStart(const Config&) {}

  std::filesystem::path vocabularies(const TrainConfig& train,
                                     const std::filesystem::path& folder) const override;
  void check(const RunConfig& config, const ConfigNode& tree, ConfigErrors& errors) const override;
  void check_resumed(const ConfigNode& before, const ConfigNode& now) const override;
  void find_weights(LoadedRun& run, const std::filesystem::path& folder,
                    const std::filesystem::path& checkpoint) const override;
  void compare_tokenizers(LoadedRun& run) const override;
  // Checkpoints of a model with train.lora leave out what LoadedRun::weights hold, unless
  // checkpoint.full.
  void prepare(Module& model, const LoadedRun& run, ConfigErrors& errors) const override;
  std::string source(const LoadedRun& run) const override;
  std::vector<std::string> differences(const LoadedRun& run) const override;
  void freeze(Module& model, const TrainConfig& config) const override;
  void merge(Module& model, const LoadedRun& run) const override;
};
HEED_START(FineTuningStart, "weights");

}  // namespace heed
