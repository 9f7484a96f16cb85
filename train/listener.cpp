#include "train/listener.h"

#include "train/config/checks_between_sections.h"

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
  attempt(errors, loaded.resolved.get("eval"), "probe", [&] {
    if (loaded.config.eval.probe != "none") listener_registry().types().get("report");
  });
  errors.throw_if_any();
}

}  // namespace heed
