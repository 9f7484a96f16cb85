#include "train/listener.h"

namespace heed {

ListenerRegistry& listener_registry() {
  static auto& registry = ListenerRegistry::filled("listener", register_listeners);
  return registry;
}

std::vector<std::unique_ptr<TrainingListener>> make_listeners() {
  std::vector<std::unique_ptr<TrainingListener>> all;
  for (const std::string& name : listener_registry().types().names()) {
    all.push_back(listener_registry().make(name, ConfigNode::map({})));
  }
  return all;
}

void check_listeners(const LoadedRun& loaded) {
  for (const std::unique_ptr<TrainingListener>& listener : make_listeners()) {
    listener->check(loaded);
  }
}

}  // namespace heed
