#include "train/config/model_start.h"

namespace heed {

StartRegistry& start_registry() {
  static auto& registry = StartRegistry::filled("start", register_starts);
  return registry;
}

const ModelStart& model_start() {
  static const ModelStart& start = *start_registry().make_first().release();
  return start;
}

std::unique_ptr<Module> make_model(const LoadedRun& run) {
  std::unique_ptr<Module> model = make_layer(run.config.model);
  ConfigErrors errors;
  model_start().prepare(*model, run, errors);
  errors.throw_if_any();
  return model;
}

}  // namespace heed
