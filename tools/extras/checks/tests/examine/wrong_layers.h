// What tests of examine_layer share: layers that are wrong in one way each, and what is said of it.
#pragma once

#include "autograd/ops/linear.h"
#include "layers/module/init.h"
#include "layers/module/module.h"
#include "tools/extras/checks/tests/examine/findings.h"
#include "tools/extras/checks/train/examine_layer.h"

namespace heed::testing {

// The base of these layers, which compute variants of y = x W^T.
struct Width {
  int64_t d_in = 4;
  void fields(Fields& f) { f.optional("d_in", d_in, at_least(1), "width of x"); }
};
class WithWeight : public Module {
 public:
  using Config = Width;
  explicit WithWeight(const Config& c)
      : config(c), weight(this, "weight", {c.d_in, c.d_in}, init::linear_weight) {}
  Signature signature() const override {
    return {.width = config.d_in, .causal = true, .cache = true};
  }
  const Config config;
  Parameter weight;
};

// A variant that differs in its forward alone.
template <Tensor (*compute)(const WithWeight&, const Input&)>
class With final : public WithWeight {
 public:
  using WithWeight::WithWeight;

 protected:
  Tensor forward(const Input& in) override { return compute(*this, in); }
};

template <class Layer>
std::string wrong_with(const std::string& options = "{d_in: 4}") {
  return all_messages(examine_layer_class<Layer>(options, {{2, 5, 4}, {5, 4}}));
}

template <Tensor (*compute)(const WithWeight&, const Input&)>
std::string wrong_forward() {
  return wrong_with<With<compute>>();
}

}  // namespace heed::testing
