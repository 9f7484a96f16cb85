// Layer normalisation over the last axis. Ba et al. 2016; torch.nn.LayerNorm.
//   x (..., d_model) -> y (..., d_model)
//   y = (x - mean) / sqrt(var + eps) * scale + shift,  var = mean((x - mean)^2)
// Parameters, named as in the book: scale (d_model), initially 1, and shift (d_model), initially 0.
#pragma once

#include "autograd/ops/layer_norm.h"
#include "layers/module/init.h"
#include "layers/module/registry.h"

namespace heed {

class LayerNorm final : public Module {
 public:
  static constexpr const char* help = "mean 0 and variance 1 over the width, then scale and shift";

  struct Config {
    int64_t d_model = 0;
    double eps = 1e-5;
    bool bias = true;
    void fields(Fields& f) {
      f.required("d_model", d_model, at_least(1), "width of x").example(5);
      f.optional("eps", eps, above(0), "added to the variance");
      f.optional("bias", bias, "add a shift").shows();
    }
  };

  explicit LayerNorm(const Config& c)
      : config(checked(c)),
        scale(this, "scale", {c.d_model}, init::ones),
        shift(this, "shift", {c.d_model}, init::zeros, c.bias) {}

  Signature signature() const override { return Signature::of_tokens(config.d_model); }

  const Config config;
  Parameter scale;  // (d_model)
  Parameter shift;  // (d_model), or empty

 protected:
  Tensor forward(const Input& in) override { return layer_norm(in.x, scale, shift, config.eps); }
};
HEED_LAYER(LayerNorm, "layer_norm");

}  // namespace heed
