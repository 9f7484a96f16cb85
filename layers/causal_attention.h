// Causal self-attention with one head: a token attends to itself and to earlier tokens, with
// dropout on the attention weights. The book, section 3.5; Vaswani et al. 2017, section 3.2.1.
//   x (B, T <= context_length, d_in) -> context_vec (B, T, d_out)
//   attn_scores  = queries keys^T / sqrt(d_out), -infinity where the key comes after the query
//   attn_weights = softmax(attn_scores)
//   context_vec  = dropout(attn_weights) values
#pragma once

#include "layers/linear.h"
#include "layers/module/attend.h"

namespace heed {

class CausalAttention final : public Module {
 public:
  static constexpr const char* help = "one causal head with dropout (book, 3.5)";

  struct Config {
    int64_t d_in = 0;
    int64_t d_out = 0;
    int64_t context_length = 0;
    double dropout = 0;
    bool qkv_bias = false;
    void fields(Fields& f) {
      f.required("d_in", d_in, at_least(1), "width of x").example(4);
      f.required("d_out", d_out, at_least(1), "width of queries, keys and values").example(3);
      f.required("context_length", context_length, at_least(1), "largest number of tokens")
          .example(6);
      f.optional("dropout", dropout, probability, "chance to drop an attention weight")
          .also_try({0.25});
      f.optional("qkv_bias", qkv_bias, "bias in the three projections").shows();
    }
  };

  explicit CausalAttention(const Config& c)
      : config(checked(c)),
        W_query(this, "W_query",
                Linear::Config{.d_in = c.d_in, .d_out = c.d_out, .bias = c.qkv_bias}),
        W_key(this, "W_key", W_query->config),
        W_value(this, "W_value", W_query->config) {}

  Signature signature() const override {
    return {.width = config.d_in,
            .longest = config.context_length,
            .mask = true,
            .causal = true,
            .cache = true};
  }

  const Config config;
  Child<Linear> W_query, W_key, W_value;

 protected:
  Tensor forward(const Input& in) override {
    const Tensor x = with_batch("causal_attention", in.x, config.d_in);
    require_context("causal_attention", in, config.context_length);
    const Tensor queries = W_query(x), keys = W_key(x), values = W_value(x);  // (B, T, d_out)
    const Tensor context_vec =
        attend(*this, in, queries, keys, values, config.dropout, {.num_heads = 1, .causal = true});
    return without_batch(context_vec, in.x);
  }
};
HEED_LAYER(CausalAttention, "causal_attention");

}  // namespace heed
