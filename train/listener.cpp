#include "train/listener.h"

#include "layers/config/left_out.h"

namespace heed {

ListenerRegistry& listener_registry() {
  static auto& registry = ListenerRegistry::filled("listener", register_listeners);
  return registry;
}

void check_listeners(const LoadedRun& loaded) {
  for (const std::unique_ptr<TrainingListener>& listener : listener_registry().make_all()) {
    listener->check(loaded);
  }
  ConfigErrors errors;
  if (loaded.config.eval.probe != "none" && listener_registry().types().find("report") == nullptr) {
    errors.add_field(loaded.resolved.get("eval"), "probe", "this build writes no report",
                     belongs_to_wing("listener", "report"));
  }
  errors.throw_if_any();
}

}  // namespace heed
