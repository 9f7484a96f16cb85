// y = x W^T + b.    x (..., d_in) -> y (..., d_out)
// weight (d_out, d_in), bias (d_out); initialised as by torch.nn.Linear.
#pragma once

#include "autograd/ops/linear.h"
#include "layers/module/init.h"
#include "layers/module/registry.h"

namespace heed {

class Linear final : public Module {
 public:
  static constexpr const char* help = "y = x W^T + b, as torch.nn.Linear";

  struct Config {
    int64_t d_in = 0;
    int64_t d_out = 0;
    bool bias = true;
    void fields(Fields& f) {
      f.required("d_in", d_in, at_least(1), "width of x").example(4);
      f.required("d_out", d_out, at_least(1), "width of y").example(3);
      f.optional("bias", bias, "add a vector b");
    }
  };

  explicit Linear(const Config& c)
      : config(checked(c)),
        weight(this, "weight", {c.d_out, c.d_in}, init::linear_weight),
        bias(
            this, "bias", {c.d_out}, [&c](Array& values) { init::linear_bias(values, c.d_in); },
            c.bias) {}

  Signature signature() const override { return Signature::of_tokens(config.d_in); }

  const Config config;
  Parameter weight;  // (d_out, d_in)
  Parameter bias;    // (d_out), or empty

 protected:
  Tensor forward(const Input& in) override { return linear(in.x, weight, bias); }
};
HEED_LAYER(Linear, "linear");

}  // namespace heed
