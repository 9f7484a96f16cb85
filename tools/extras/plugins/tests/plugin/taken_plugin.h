// A layer with a free name, then one whose name heedgrad uses.
#pragma once

#include "layers/module/registry.h"

namespace heed::testing {

class NewLayer final : public Module {
 public:
  static constexpr const char* help = "a name that is free";
  using Config = NoFields;
  explicit NewLayer(const Config&) {}

 protected:
  Tensor forward(const Input& in) override { return in.x; }
};

class TakenLayer final : public Module {
 public:
  static constexpr const char* help = "not the linear layer";
  using Config = NoFields;
  explicit TakenLayer(const Config&) {}

 protected:
  Tensor forward(const Input& in) override { return in.x; }
};

}  // namespace heed::testing

HEED_LAYER(heed::testing::NewLayer, "new_layer");
HEED_LAYER(heed::testing::TakenLayer, "linear");
