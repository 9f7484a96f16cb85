#include "tools/extras/fine_tuning/train/foreign.h"

#include <algorithm>
#include <cmath>

#include "train/files/human_readable.h"

namespace heed {

std::string mistake_in_weights(const Array& weights) {
  const auto wrong = std::count_if(weights.span().begin(), weights.span().end(),
                                   [](real weight) { return !std::isfinite(weight); });
  return wrong == 0 ? ""
                    : text("expected finite numbers of ", precision_name, ", got ", grouped(wrong),
                           " of ", grouped(weights.size()), " that are NaN or infinite");
}

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
