// Two Linear layers with an activation between them, applied to each token independently.
// Vaswani et al. 2017, section 3.3; the book, section 4.3.
//   x (..., d_model) -> hidden (..., hidden width) -> y (..., d_model)
//   hidden = activation(x W_0^T + b_0)
//   y      = hidden W_2^T + b_2
// The two are called layers.0 and layers.2, as in the book's nn.Sequential. With activation swiglu
// the registry makes a gated_feed_forward, which has three.
#pragma once

#include <optional>

#include "autograd/array/shape.h"
#include "autograd/ops/feed_forward.h"
#include "layers/activation.h"
#include "layers/linear.h"

namespace heed {

class FeedForward final : public Module {
 public:
  static constexpr const char* help = "two Linear layers with an activation between them";

  struct Config {
    int64_t d_model = 0;
    int64_t hidden_multiplier = 4;
    std::string activation = "gelu_tanh";
    bool bias = true;
    std::optional<int64_t> ff_width = std::nullopt;
    void fields(Fields& f);
    int64_t hidden_width() const {
      return ff_width.value_or(saturated_product(d_model, hidden_multiplier));
    }
  };

  // A GatedFeedForward if the activation is swiglu; the constructor throws ConfigError for it.
  static std::unique_ptr<Module> make(const Config& c);
  explicit FeedForward(const Config& c)
      : config(checked(c)),
        first(this, "layers.0",
              Linear::Config{.d_in = c.d_model, .d_out = c.hidden_width(), .bias = c.bias}),
        last(this, "layers.2",
             Linear::Config{.d_in = c.hidden_width(), .d_out = c.d_model, .bias = c.bias}) {
    require<ConfigError>(c.activation != "swiglu",
                         "feed_forward: expected an activation between two Linear layers, got ",
                         "swiglu; GatedFeedForward is the class of such layers");
  }

  Signature signature() const override { return Signature::of_tokens(config.d_model); }
  std::vector<Tensor> last_matrices() const override { return {last->weight}; }

  const Config config;
  Child<Linear> first, last;

 protected:
  Tensor forward(const Input& in) override {
    const Gelu kind = config.activation == "gelu" ? Gelu::erf : Gelu::tanh;
    const bool is_gelu = config.activation.starts_with("gelu");
    if (!is_gelu || !is_plain(*first) || !is_plain(*last)) {
      const Tensor hidden = first(in);
      return last(is_gelu                        ? gelu(hidden, kind)
                  : config.activation == "relu"  ? relu(hidden)
                  : config.activation == "relu2" ? pow(relu(hidden), 2)
                                                 : silu(hidden));
    }
    const Tensor y =
        feed_forward(in.x, {first->weight, first->bias}, kind, {last->weight, last->bias});
    observe(*first, in.x.shape().with(-1, config.hidden_width()), linear_flops(in.x));
    observe(*last, y.shape(), linear_flops(in.x));
    return y;
  }

 private:
  // The same for both layers. x (..., d_model)
  int64_t linear_flops(const Tensor& x) const { return 2 * x.size() * config.hidden_width(); }
};
HEED_LAYER(FeedForward, "feed_forward");

}  // namespace heed
