// Two Linear layers with an activation between them, applied to each token independently.
// Vaswani et al. 2017, section 3.3; the book, section 4.3.
//   x (..., d_model) -> hidden (..., hidden_multiplier * d_model) -> y (..., d_model)
//   hidden = activation(x W_0^T + b_0)
//   y      = hidden W_2^T + b_2
// The parameters are those of layers.0 and layers.2, as in the book's nn.Sequential.
#pragma once

#include "autograd/array/shape.h"
#include "autograd/ops/feed_forward.h"
#include "layers/activation.h"
#include "layers/linear.h"
#include "layers/sequential.h"

namespace heed {

class FeedForward final : public Module {
 public:
  static constexpr const char* help = "two Linear layers with an activation between them";

  struct Config {
    int64_t d_model = 0;
    int64_t hidden_multiplier = 4;
    std::string activation = "gelu_tanh";
    bool bias = true;
    void fields(Fields& f) {
      f.required("d_model", d_model, at_least(1), "width of x").example(4);
      f.optional("hidden_multiplier", hidden_multiplier, at_least(1), "hidden width / d_model");
      f.choice("activation", activation, activation_names, "what stands between the two");
      f.optional("bias", bias, "biases in both");
    }
  };

  explicit FeedForward(const Config& c)
      : config(checked(c)), layers(this, "layers", Sequential::Config{specs(c)}) {}

  const Config config;
  Child<Sequential> layers;

 protected:
  Tensor forward(const Input& in) override {
    const bool gelu = config.activation == "gelu" || config.activation == "gelu_tanh";
    if (!gelu || !fused() || ForwardObserver::current() != nullptr) {
      return layers(in);
    }
    const auto& first = static_cast<Linear&>(*layers->layers[0]);
    const auto& last = static_cast<Linear&>(*layers->layers[2]);
    const Gelu kind = config.activation == "gelu" ? Gelu::erf : Gelu::tanh;
    return feed_forward(in.x, {first.weight, first.bias}, kind, {last.weight, last.bias});
  }

 private:
  static std::vector<LayerSpec> specs(const Config& c) {
    const int64_t hidden = saturated_product(c.d_model, c.hidden_multiplier);
    const auto linear = [&](int64_t d_in, int64_t d_out) {
      return LayerSpec{"linear", write_fields(Linear::Config{d_in, d_out, c.bias})};
    };
    return {linear(c.d_model, hidden), {c.activation, {}}, linear(hidden, c.d_model)};
  }
};
HEED_LAYER(FeedForward, "feed_forward");

}  // namespace heed
