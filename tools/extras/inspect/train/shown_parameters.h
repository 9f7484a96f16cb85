// The parameters whose values a user wants to see before and after training (train.show).
#pragma once

#include <string>
#include <vector>

#include "train/check/adviser.h"
#include "train/config/run_config.h"

namespace heed {

// The parameters that these names choose, in their order. A name is that of a parameter,
// "W_query.weight", or of a layer, "W_query", for all that it has. One that is neither chooses
// nothing.
std::vector<NamedParameter> shown_parameters(const Module& model,
                                             const std::vector<std::string>& names);

// Requires that each name chooses some.
class ShowAdviser final : public Adviser {
 public:
  static constexpr const char* help = "the names in train.show";
  using Config = NoFields;

  explicit ShowAdviser(const Config&) {}
  void check(const LoadedRun& run, const Module& model, ConfigErrors& errors) const override;
};
HEED_ADVISER(ShowAdviser, "show");

}  // namespace heed
