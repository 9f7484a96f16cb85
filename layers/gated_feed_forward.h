// Three Linear layers, one of which gates another: SwiGLU, the feed-forward of Llama. Shazeer 2020,
// "GLU Variants Improve Transformer"; transformers' LlamaMLP, whose names these are.
//   x (..., d_model) -> hidden (..., ff_width) -> y (..., d_model)
//   hidden = silu(x W_gate^T + b_gate) * (x W_up^T + b_up)
//   y      = hidden W_down^T + b_down
#pragma once

#include "autograd/ops/arithmetic.h"
#include "autograd/ops/silu.h"
#include "layers/linear.h"

namespace heed {

class GatedFeedForward final : public Module {
 public:
  static constexpr const char* help = "three Linear layers, one of them a gate: SwiGLU";

  struct Config {
    int64_t d_model = 0;
    int64_t ff_width = 0;
    bool bias = true;
    void fields(Fields& f) {
      f.required("d_model", d_model, at_least(1), "width of x").example(4);
      f.required("ff_width", ff_width, at_least(1), "hidden width").example(6);
      f.optional("bias", bias, "biases in all three").shows();
    }
  };

  explicit GatedFeedForward(const Config& c)
      : config(checked(c)),
        gate_proj(this, "gate_proj",
                  Linear::Config{.d_in = c.d_model, .d_out = c.ff_width, .bias = c.bias}),
        up_proj(this, "up_proj", gate_proj->config),
        down_proj(this, "down_proj",
                  Linear::Config{.d_in = c.ff_width, .d_out = c.d_model, .bias = c.bias}) {}

  Signature signature() const override { return Signature::of_tokens(config.d_model); }
  std::vector<Tensor> last_matrices() const override { return {down_proj->weight}; }

  const Config config;
  Child<Linear> gate_proj, up_proj, down_proj;

 protected:
  Tensor forward(const Input& in) override {
    const Tensor gate = silu(gate_proj(in));  // (..., ff_width)
    return down_proj(gate * up_proj(in));
  }
};
HEED_LAYER(GatedFeedForward, "gated_feed_forward");

}  // namespace heed
