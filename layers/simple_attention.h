// Self-attention without trainable weights: the token vectors serve as queries, keys and values.
// The book "Build a Large Language Model (From Scratch)", section 3.3.
//   x (B, T, d) -> context_vec (B, T, d)
//   attn_scores  = x x^T
//   attn_weights = softmax(attn_scores); attention_weights: another normalisation of the scores
//   context_vec  = attn_weights x
#pragma once

#include "autograd/ops/matmul.h"
#include "layers/module/attend.h"
#include "layers/module/masks.h"
#include "layers/module/registry.h"

namespace heed {

class SimpleAttention final : public Module {
 public:
  static constexpr const char* help = "self-attention without trainable weights (book, 3.3)";

  struct Config {
    std::string attention_weights = "softmax";
    void fields(Fields& f) { attention_weights_field(f, attention_weights); }
  };

  SimpleAttention() : SimpleAttention(Config{}) {}
  explicit SimpleAttention(const Config& c) : config(checked(c)) {}

  Signature signature() const override { return {.mask = true}; }

  const Config config;

 protected:
  Tensor forward(const Input& in) override {
    const Tensor x = with_batch("simple_attention", in.x, in.x ? in.x.dim(-1) : 0);
    const Tensor attn_scores = matmul(x, x, Trans::no, Trans::yes);  // (B, T, T)
    const Tensor attn_weights =
        attention_weights(attn_scores, in.mask, normalisation_of(config.attention_weights));
    return without_batch(mix_values(*this, attn_weights, finite_tokens(x, in.mask)), in.x);
  }
};
HEED_LAYER(SimpleAttention, "simple_attention");

}  // namespace heed
