#include "layers/module/registry.h"

namespace heed {

LayerRegistry& layer_registry() {
  static LayerRegistry& registry = LayerRegistry::filled("layer", register_layers);
  return registry;
}

std::unique_ptr<Module> make_layer(const LayerChoice& choice) {
  return layer_registry().make(choice);
}

std::unique_ptr<Module> make_layer(const std::string& type, const ConfigNode& options) {
  return layer_registry().make(type, options);
}

}  // namespace heed
