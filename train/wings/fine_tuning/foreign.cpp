#include "train/wings/fine_tuning/foreign.h"

namespace heed {

ForeignWeightsRegistry& weights_registry() {
  static auto& registry = ForeignWeightsRegistry::filled("weights", register_foreign_weights);
  return registry;
}

std::unique_ptr<ForeignWeights> maker_of(const std::filesystem::path& folder) {
  for (auto& system : weights_registry().make_all()) {
    if (system->has_made(folder)) {
      return std::move(system);
    }
  }
  return nullptr;
}

}  // namespace heed
