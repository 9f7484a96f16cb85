#include "layers/module/registry.h"

namespace heed {

LayerRegistry& layer_registry() {
  static LayerRegistry& registry = LayerRegistry::filled("layer", register_layers);
  return registry;
}

std::unique_ptr<Module> make_layer(const LayerSpec& spec) { return layer_registry().make(spec); }

std::unique_ptr<Module> make_layer(const std::string& type, const ConfigNode& options) {
  return make_layer(LayerSpec{type, options});
}

}  // namespace heed
