// Adam, as torch.optim.Adam: weight decay is added to the gradient. Equations in adam_update.h.
#pragma once

#include "train/optim/adam_update.h"

namespace heed {

class Adam final : public AdamBase {
 public:
  static constexpr const char* help = "Adam, as torch.optim.Adam";
  using Config = AdamConfig;

  Adam(const Config& c, std::vector<NamedParameter> parameters)
      : AdamBase(c, std::move(parameters), WeightDecay::coupled) {}
};
HEED_OPTIMIZER(Adam, "adam");

}  // namespace heed
