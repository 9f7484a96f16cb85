// What happens to a model before it is trained, such as starting from weights. A door for extras: a
// header that ends in HEED_START(Class, "name") answers; of several the first by
// name.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "layers/module/registry.h"
#include "train/config/run_config.h"

namespace heed {

// The plain form trains all of a model as it was drawn.
class ModelStart {
 public:
  virtual ~ModelStart() = default;

  // ---- While a config is read.

  // The folder with the vocabularies that go with train.weights (train/tokenizers/vocabulary.h); ""
  // if the data makes its own. Paths in the config are relative to `folder`.
  virtual std::filesystem::path vocabularies(const TrainConfig& /*train*/,
                                             const std::filesystem::path& /*folder*/) const {
    return {};
  }
  // Adds the mistakes in what sections say together. `tree` is the config as it was written.
  virtual void check(const RunConfig& /*config*/, const ConfigNode& /*tree*/,
                     ConfigErrors& /*errors*/) const {}
  // Throws ConfigError if a run that began with one config cannot go on with another.
  virtual void check_resumed(const ConfigNode& /*before*/, const ConfigNode& /*now*/) const {}
  // Makes train.weights absolute. Unless all weights are in `checkpoint`, finds their file for
  // LoadedRun::weights and adds its hash to the config. Throws IoError if it cannot be read or has
  // changed.
  virtual void find_weights(LoadedRun& /*run*/, const std::filesystem::path& /*folder*/,
                            const std::filesystem::path& /*checkpoint*/) const {}
  // For a run that is resolved: warns if the ids of the weights mean something else in its data.
  virtual void compare_tokenizers(LoadedRun& /*run*/) const {}

  // ---- When a model is made.

  // Fills the parameters from LoadedRun::weights, if there are any, and adds train.lora. Checks
  // train.freeze. Adds mistakes at their places. In a dry run weights are compared only.
  virtual void prepare(Module& /*model*/, const LoadedRun& /*run*/,
                       ConfigErrors& /*errors*/) const {}
  // What the plan says about what a run starts from; "" if there is nothing to say.
  virtual std::string source(const LoadedRun& /*run*/) const { return ""; }
  // In what the model of the run computes another function of the weights than the one that they
  // were made with: a line for the user each.
  virtual std::vector<std::string> differences(const LoadedRun& /*run*/) const { return {}; }
  // Makes constants of the parameters that train.freeze names. Throws ConfigError.
  virtual void freeze(Module& /*model*/, const TrainConfig& /*config*/) const {}
  // Puts what train.lora has learned into the model's own weights, and takes it off.
  virtual void merge(Module& /*model*/, const LoadedRun& /*run*/) const {}
};

using StartRegistry = Registry<ModelStart>;
StartRegistry& start_registry();
void register_starts(StartRegistry& registry);

// The process's.
const ModelStart& model_start();

#define HEED_START(Class, name) \
  static_assert(std::is_base_of_v<heed::ModelStart, Class>, name " must derive from ModelStart")

// The model of a run, prepared. Throws ConfigError.
std::unique_ptr<Module> make_model(const LoadedRun& run);

}  // namespace heed
