#include "train/config/model_start.h"

#include "layers/config/left_out.h"

namespace heed {

void ModelStart::check(const RunConfig& config, const ConfigNode& train,
                       ConfigErrors& errors) const {
  if (config.purpose == Purpose::model) {
    return;  // it is not trained
  }
  for (const char* key : {"weights", "weights_ignore", "weights_fingerprint", "freeze", "lora"}) {
    const ConfigNode& node = train.get(key);
    if ((node.size() > 0 || !node.text().empty()) && !errors.are_within(node.path())) {
      errors.add(node, "this build trains all of a model as it is drawn",
                 belongs_to_extra("start", "weights"));
    }
  }
}

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
