#include "train/listener.h"

namespace heed {

ListenerRegistry& listener_registry() {
  static auto& registry = ListenerRegistry::filled("listener", register_listeners);
  return registry;
}

void check_listeners(const LoadedRun& loaded) {
  for (const std::unique_ptr<TrainingListener>& listener : listener_registry().make_all()) {
    listener->check(loaded);
  }
}

}  // namespace heed
