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
  if (run.config.train.recompute == "blocks" && model->recompute_blocks(true) < 2) {
    errors.add_field(run.resolved.get("train"), "recompute", "expected a model of at least two ",
                     "blocks, of which all but the last run again; leave it out");
  }
  errors.throw_if_any();
  return model;
}

}  // namespace heed
