#include "train/config/run_hooks.h"

namespace heed {

RunHooksRegistry& run_hooks_registry() {
  static auto& registry = RunHooksRegistry::filled("run_hooks", register_run_hooks);
  return registry;
}

std::unique_ptr<Module> make_model(const LoadedRun& run) {
  std::unique_ptr<Module> model = make_layer(run.config.model);
  ConfigErrors errors;
  for_each_hook([&](const RunHooks& each) { each.prepare(*model, run, errors); });
  errors.throw_if_any();
  return model;
}

}  // namespace heed
