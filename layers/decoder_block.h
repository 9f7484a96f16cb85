// One decoder block of an encoder-decoder: causal self-attention, cross-attention to the output of
// the encoder, and feed-forward, each preceded by a norm and bypassed by a shortcut. Vaswani et al.
// 2017, section 3.1, but with the norm first (pre-norm), as in transformer_block.h.
//   x (B, T, d_model), context (B, S, d_model) -> x (B, T, d_model)
//   x = x + drop(att(norm1(x)))
//   x = x + drop(cross_att(norm2(x), context))
//   x = x + drop(ff(norm3(x)))
// The mask applies to the context only. Self-attention is causal.
#pragma once

#include "layers/cross_attention.h"
#include "layers/multi_head_attention.h"
#include "layers/transformer_block.h"

namespace heed {

inline MultiHeadAttention::Config self_attention_of(const BlockConfig& c) {
  return {.d_in = c.d_model,
          .d_out = c.d_model,
          .context_length = c.context_length,
          .num_heads = c.num_heads,
          .dropout = c.dropout,
          .qkv_bias = c.qkv_bias,
          .out_bias = c.bias};
}
inline CrossAttention::Config cross_attention_of(const BlockConfig& c) {
  return {.d_in = c.d_model,
          .d_out = c.d_model,
          .num_heads = c.num_heads,
          .dropout = c.dropout,
          .qkv_bias = c.qkv_bias,
          .out_bias = c.bias};
}

class DecoderBlock final : public Module {
 public:
  static constexpr const char* help = "causal self-attention, cross-attention and feed-forward";

  // Its attention cannot be chosen.
  struct Config : BlockConfig {
    void fields(Fields& f) { block_fields(f); }
  };

  explicit DecoderBlock(const Config& c)
      : config(checked(c)),
        att(this, "att", self_attention_of(c)),
        cross_att(this, "cross_att", cross_attention_of(c)),
        ff(this, "ff", feed_forward_of(c)),
        norm1(this, "norm1", make_norm(c)),
        norm2(this, "norm2", make_norm(c)),
        norm3(this, "norm3", make_norm(c)),
        drop_shortcut(this, "drop_shortcut", Dropout::Config{.dropout = c.dropout}) {}

  Signature signature() const override {
    return {.width = config.d_model,
            .longest = config.context_length,
            .context = true,
            .context_width = config.d_model,
            .mask = true,
            .causal = true};
  }

  const Config config;
  Child<MultiHeadAttention> att;
  Child<CrossAttention> cross_att;
  Child<FeedForward> ff;
  Child<Module> norm1, norm2, norm3;
  Child<Dropout> drop_shortcut;

 protected:
  Tensor forward(const Input& in) override {
    Tensor x = drop_shortcut->add_to(in.x, att(norm1(in.x)));
    x = drop_shortcut->add_to(x, cross_att(in.with(norm2(x))));
    return drop_shortcut->add_to(x, ff(norm3(x)));
  }
};
HEED_LAYER(DecoderBlock, "decoder_block");

}  // namespace heed
