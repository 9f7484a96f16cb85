// The parameters whose values a user wants to see before and after training (train.show).
#pragma once

#include <string>
#include <vector>

#include "train/run_hooks.h"

namespace heed {

// The parameters that these names choose, in their order. A name is that of a parameter,
// "W_query.weight", or of a layer, "W_query", for all that it has. One that is neither chooses
// nothing.
std::vector<NamedParameter> shown_parameters(const Module& model,
                                             const std::vector<std::string>& names);

// Requires that each name chooses some.
class ShownNames final : public RunHooks {
 public:
  static constexpr const char* help = "the names in train.show";
  using Config = NoFields;

  explicit ShownNames(const Config&) {}
  void prepare(Module& model, const LoadedRun& run, ConfigErrors& errors) const override;
};
HEED_RUN_HOOKS(ShownNames, "shown_names");

}  // namespace heed
