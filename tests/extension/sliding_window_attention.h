// Causal attention in which a token sees itself and the window - 1 tokens before it.
// Beltagy, Peters and Cohan 2020, "Longformer".
#pragma once

#include <heed/layers/layer.h>
#include <heed/layers/linear.h>

namespace extension {

using namespace heed;

class SlidingWindowAttention final : public Module {
 public:
  static constexpr const char* help = "causal attention to the last few tokens";

  struct Config {
    int64_t d_in = 0;
    int64_t d_out = 0;
    int64_t num_heads = 1;
    int64_t window = 4;
    double dropout = 0;
    void fields(Fields& f) {
      f.required("d_in", d_in, at_least(1), "width of x").example(4);
      f.required("d_out", d_out, at_least(1), "width of y, all heads together").example(6);
      f.required("num_heads", num_heads, at_least(1), "number of heads").example(2);
      f.optional("window", window, at_least(1), "how many tokens one sees, itself included")
          .also_try({2});
      f.optional("dropout", dropout, probability, "chance to drop a weight").also_try({0.25});
    }
  };

  explicit SlidingWindowAttention(const Config& c)
      : config(checked(c)),
        W_query(this, "W_query", Linear::Config{c.d_in, c.d_out, false}),
        W_key(this, "W_key", Linear::Config{c.d_in, c.d_out, false}),
        W_value(this, "W_value", Linear::Config{c.d_in, c.d_out, false}) {}

  Signature signature() const override {
    return {.width = config.d_in, .mask = true, .causal = true};
  }

  const Config config;
  Child<Linear> W_query, W_key, W_value;

 protected:
  Tensor forward(const Input& in) override {
    const Tensor x = with_batch("sliding_window_attention", in.x, config.d_in);
    const int64_t batch = x.dim(0), tokens = x.dim(1);
    Input windowed = in;
    windowed.mask = masked_where(in.mask, batch, tokens, tokens, [&](int64_t t, int64_t s) {
      return s <= t && t - s < config.window;
    });
    const Tensor context_vec =
        attend(*this, windowed, W_query(x), W_key(x), W_value(x), config.dropout,
               {.num_heads = config.num_heads, .causal = true});
    return without_batch(context_vec, in.x);
  }
};

}  // namespace extension

HEED_LAYER(extension::SlidingWindowAttention, "sliding_window_attention");
