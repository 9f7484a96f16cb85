// A layer with options.
//   x (..., d_in) -> y (..., d_out)
//   y = swiglu(W_gate x, W_value x), or sigmoid(W_gate x) * W_value x
#pragma once

#include <heed/layers/layer.h>
#include <heed/layers/linear.h>

#include "swiglu.h"

namespace extension {

class GatedLinear final : public Module {
 public:
  static constexpr const char* help = "a Linear layer with a gate for each output";

  struct Config {
    int64_t d_in = 0;
    int64_t d_out = 0;
    std::string gate = "silu";
    bool bias = true;
    void fields(Fields& f) {
      f.required("d_in", d_in, at_least(1), "width of x").example(4);
      f.required("d_out", d_out, at_least(1), "width of y").example(3);
      f.choice("gate", gate, {"silu", "sigmoid"}, "what the gate goes through");
      f.optional("bias", bias, "biases in both");
    }
    // A rule between fields: reported at the place of the field, with all other mistakes.
    void check(ConfigErrors& errors, const ConfigNode& at) const {
      if (gate == "sigmoid" && !bias) {
        errors.add_field(at, "bias", "a sigmoid gate without a bias begins half open; leave it on");
      }
    }
  };

  explicit GatedLinear(const Config& c)
      : config(checked(c)),
        W_gate(this, "W_gate", Linear::Config{c.d_in, c.d_out, c.bias}),
        W_value(this, "W_value", Linear::Config{c.d_in, c.d_out, c.bias}) {}

  Signature signature() const override { return Signature::of_tokens(config.d_in); }

  const Config config;
  Child<Linear> W_gate, W_value;

 protected:
  Tensor forward(const Input& in) override {
    const Tensor gate = W_gate(in), value = W_value(in);
    return config.gate == "silu" ? swiglu(gate, value) : sigmoid(gate) * value;
  }
};

}  // namespace extension

HEED_LAYER(extension::GatedLinear, "gated_linear");
