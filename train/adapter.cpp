#include "train/adapter.h"

#include <set>

#include "train/config/run_config.h"
#include "train/weights/freeze.h"
#include "train/weights/source.h"

namespace heed {

AdapterRegistry& adapter_registry() {
  static auto& registry = AdapterRegistry::filled("adapter", register_adapters);
  return registry;
}

namespace {

// Parameters of the base that were not filled in have no other place.
void leave_out_base(Module& model, const std::vector<std::string>& ignored) {
  std::set<const void*> drawn;  // by identity, which tied parameters share
  model.for_each_parameter([&](const std::string& name, const Parameter& parameter) {
    if (matches_any(ignored, name)) drawn.insert(parameter.identity());
  });
  model.for_each_parameter([&](const std::string&, Parameter& parameter) {
    const bool is_trained = parameter.tensor().requires_grad();
    if (!is_trained && !drawn.contains(parameter.identity())) parameter.leave_out();
  });
}

}  // namespace

std::unique_ptr<Module> make_model(const LoadedRun& run) {
  std::unique_ptr<Module> model = make_layer(run.config.model);
  if (!run.weights.empty()) {
    start_from(*model, run.weights, run.config.train.weights_ignore);
  }
  add_adapter(run, *model);
  return model;
}

void add_adapter(const LoadedRun& run, Module& model) {
  const TrainConfig& train = run.config.train;
  if (!train.lora) {
    return;
  }
  adapter_registry().make(train.lora)->add_to(model);
  if (!run.weights.empty() && !run.config.checkpoint.full) {
    leave_out_base(model, train.weights_ignore);
  }
}

void merge_adapter(const LoadedRun& run, Module& model) {
  if (run.config.train.lora) {
    adapter_registry().make(run.config.train.lora)->merge_into(model);
  }
}

}  // namespace heed
