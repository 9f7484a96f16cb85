// RMS normalisation over the last axis. Zhang and Sennrich 2019; torch.nn.RMSNorm, but with default
// eps 1e-5 in both precisions.
//   x (..., d_model) -> y (..., d_model)
//   y = x / sqrt(mean(x^2) + eps) * scale,  scale (d_model) initially 1
#pragma once

#include "autograd/ops/rms_norm.h"
#include "layers/module/init.h"
#include "layers/module/registry.h"

namespace heed {

class RmsNorm final : public Module {
 public:
  static constexpr const char* help = "root mean square 1 over the width, then scale";

  struct Config {
    int64_t d_model = 0;
    double eps = 1e-5;
    void fields(Fields& f) {
      f.required("d_model", d_model, at_least(1), "width of x").example(5);
      f.optional("eps", eps, above(0), "added to the mean square");
    }
  };

  explicit RmsNorm(const Config& c)
      : config(checked(c)), scale(this, "scale", {c.d_model}, init::ones) {}

  Signature signature() const override { return Signature::of_tokens(config.d_model); }

  const Config config;
  Parameter scale;  // (d_model)

 protected:
  Tensor forward(const Input& in) override { return rms_norm(in.x, scale, config.eps); }
};
HEED_LAYER(RmsNorm, "rms_norm");

}  // namespace heed
