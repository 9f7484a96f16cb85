// AdamW, as torch.optim.AdamW: weight decay shrinks the weights themselves. Equations in
// adam_update.h.
#pragma once

#include "train/optim/adam_update.h"

namespace heed {

class AdamW final : public AdamBase {
 public:
  static constexpr const char* help = "Adam with decoupled weight decay, as torch.optim.AdamW";
  struct Config : AdamConfig {
    Config() { weight_decay = 0.01; }
  };

  AdamW(const Config& c, std::vector<NamedParameter> parameters)
      : AdamBase(c, std::move(parameters), WeightDecay::decoupled) {}
};
HEED_OPTIMIZER(AdamW, "adamw");

}  // namespace heed
