#include "train/weights/foreign.h"

namespace heed {

ForeignWeightsRegistry& weights_registry() {
  static auto& registry = ForeignWeightsRegistry::filled("weights", register_foreign_weights);
  return registry;
}

std::unique_ptr<ForeignWeights> maker_of(const std::filesystem::path& folder) {
  for (const std::string& name : weights_registry().types().names()) {
    auto system = weights_registry().make(name, ConfigNode::map({}));
    if (system->has_made(folder)) {
      return system;
    }
  }
  return nullptr;
}

}  // namespace heed
