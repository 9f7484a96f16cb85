// my_op_layer: my_op of two projections of each token, so that a config can use it.
//   x (B, T, d_in) -> y (B, T, d_out),  y = my_op(W_value x, W_gate x)
#pragma once

#include <heed/layers/layer.h>
#include <heed/layers/linear.h>

#include "my_op.h"

namespace mine {

class MyOpLayer final : public Module {
 public:
  static constexpr const char* help = "my_op between two projections";

  struct Config {
    int64_t d_in = 0;
    int64_t d_out = 0;
    void fields(Fields& f) {
      f.required("d_in", d_in, at_least(1), "width of x").example(4);
      f.required("d_out", d_out, at_least(1), "width of y").example(3);
    }
  };

  explicit MyOpLayer(const Config& c)
      : config(checked(c)),
        W_value(this, "W_value", Linear::Config{c.d_in, c.d_out}),
        W_gate(this, "W_gate", Linear::Config{c.d_in, c.d_out}) {}

  // Every token is computed on its own. The tests check this.
  Signature signature() const override { return Signature::of_tokens(config.d_in); }

  const Config config;
  Child<Linear> W_value, W_gate;

 protected:
  Tensor forward(const Input& in) override { return my_op(W_value(in), W_gate(in)); }
};

}  // namespace mine

// The build finds this line. "my_op_layer" is the type name in configs.
HEED_LAYER(mine::MyOpLayer, "my_op_layer");
