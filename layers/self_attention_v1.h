// Self-attention with trainable weights, stored as plain matrices. The book, section 3.4.
//   x (B, T, d_in) -> context_vec (B, T, d_out)
//   queries      = x W_query
//   keys         = x W_key
//   values       = x W_value
//   attn_weights = softmax(queries keys^T / sqrt(d_out))
//   context_vec  = attn_weights values
// W_* (d_in, d_out), initialised from U(0, 1) as by torch.rand. Linear stores the transpose.
#pragma once

#include "autograd/ops/arithmetic.h"
#include "autograd/ops/matmul.h"
#include "layers/module/attend.h"
#include "layers/module/init.h"
#include "layers/module/masks.h"
#include "layers/module/registry.h"

namespace heed {

class SelfAttentionV1 final : public Module {
 public:
  static constexpr const char* help = "self-attention with bare weight matrices (book, 3.4)";

  struct Config {
    int64_t d_in = 0;
    int64_t d_out = 0;
    std::string attention_weights = "softmax";
    void fields(Fields& f) {
      f.required("d_in", d_in, at_least(1), "width of x").example(4);
      f.required("d_out", d_out, at_least(1), "width of queries, keys and values").example(3);
      attention_weights_field(f, attention_weights);
    }
  };

  explicit SelfAttentionV1(const Config& c)
      : config(checked(c)),
        W_query(this, "W_query", {c.d_in, c.d_out}, init::rand),
        W_key(this, "W_key", {c.d_in, c.d_out}, init::rand),
        W_value(this, "W_value", {c.d_in, c.d_out}, init::rand) {}

  Signature signature() const override { return {.width = config.d_in, .mask = true}; }

  const Config config;
  Parameter W_query, W_key, W_value;  // (d_in, d_out)

 protected:
  Tensor forward(const Input& in) override {
    const Tensor x = with_batch("self_attention_v1", in.x, config.d_in);
    const Tensor queries = matmul(x, W_query);                                // (B, T, d_out)
    const Tensor keys = matmul(x, W_key);                                     // (B, T, d_out)
    const Tensor values = matmul(x, W_value);                                 // (B, T, d_out)
    const Tensor attn_scores = matmul(queries, keys, Trans::no, Trans::yes);  // (B, T, T)
    const real scale = 1 / std::sqrt(static_cast<real>(config.d_out));
    const Tensor attn_weights =
        attention_weights(attn_scores * scale, in.mask, normalisation_of(config.attention_weights));
    return without_batch(mix_values(*this, attn_weights, finite_tokens(values, in.mask)), in.x);
  }
};
HEED_LAYER(SelfAttentionV1, "self_attention_v1");

}  // namespace heed
