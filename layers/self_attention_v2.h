// Self-attention with Linear layers as projections. The book, section 3.4.
//   x (B, T, d_in) -> context_vec (B, T, d_out)
//   attn_weights = softmax(queries keys^T / sqrt(d_out))
//   context_vec  = attn_weights values
// There is no causal mask: every token attends to all others, also to later ones. A language model
// needs causal_attention.
#pragma once

#include "layers/linear.h"
#include "layers/module/attend.h"

namespace heed {

class SelfAttentionV2 final : public Module {
 public:
  static constexpr const char* help = "self-attention with Linear layers (book, 3.4)";

  struct Config {
    int64_t d_in = 0;
    int64_t d_out = 0;
    bool qkv_bias = false;
    std::string attention_weights = "softmax";
    void fields(Fields& f) {
      f.required("d_in", d_in, at_least(1), "width of x").example(4);
      f.required("d_out", d_out, at_least(1), "width of queries, keys and values").example(3);
      f.optional("qkv_bias", qkv_bias, "bias in the three projections").shows();
      attention_weights_field(f, attention_weights);
    }
  };

  explicit SelfAttentionV2(const Config& c)
      : config(checked(c)),
        W_query(this, "W_query",
                Linear::Config{.d_in = c.d_in, .d_out = c.d_out, .bias = c.qkv_bias}),
        W_key(this, "W_key", W_query->config),
        W_value(this, "W_value", W_query->config) {}

  Signature signature() const override { return {.width = config.d_in, .mask = true}; }

  const Config config;
  Child<Linear> W_query, W_key, W_value;

 protected:
  Tensor forward(const Input& in) override {
    const Tensor x = with_batch("self_attention_v2", in.x, config.d_in);
    const Tensor queries = W_query(x), keys = W_key(x), values = W_value(x);  // (B, T, d_out)
    const AttentionOptions options{.normalisation = normalisation_of(config.attention_weights)};
    const Tensor context_vec = attend(*this, in, queries, keys, values, /*dropout=*/0, options);
    return without_batch(context_vec, in.x);
  }
};
HEED_LAYER(SelfAttentionV2, "self_attention_v2");

}  // namespace heed
