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

class DecoderBlock final : public Module {
 public:
  static constexpr const char* help = "causal self-attention, cross-attention and feed-forward";

  struct Config {
    int64_t d_model = 0;
    int64_t context_length = 0;
    int64_t num_heads = 0;
    double dropout = 0;
    bool qkv_bias = false;
    bool bias = true;
    std::string norm = "layer_norm";
    std::string activation = "gelu_tanh";
    int64_t hidden_multiplier = 4;
    void fields(Fields& f) {
      f.required("d_model", d_model, at_least(1), "width of x and of the context")
          .example(4)
          .also_known_as(width_words);
      f.required("context_length", context_length, at_least(1), "largest number of tokens of x")
          .example(6)
          .also_known_as(length_words);
      f.required("num_heads", num_heads, at_least(1), "number of heads of either attention")
          .example(2)
          .also_known_as(heads_words);
      f.optional("dropout", dropout, probability, "chance to drop a number")
          .also_try({0.25})
          .also_known_as(dropout_words);
      f.optional("qkv_bias", qkv_bias, "bias in the query, key and value projections");
      f.optional("bias", bias, "bias in all other Linear layers and shift in the norms");
      f.choice("norm", norm, norm_names, "which norm stands before each of the three");
      f.choice("activation", activation, activation_names, "activation of the feed-forward");
      f.optional("hidden_multiplier", hidden_multiplier, at_least(1),
                 "hidden width of the feed-forward / d_model");
    }
    void check(ConfigErrors& errors, const ConfigNode& at) const {
      if (d_model % num_heads != 0) {
        errors.add_field(at, "num_heads", "must divide d_model: d_model is ", d_model,
                         ", num_heads is ", num_heads);
      }
    }
  };

  explicit DecoderBlock(const Config& c)
      : config(checked(c)),
        att(this, "att", self_attention(c)),
        cross_att(this, "cross_att", attention_to_context(c)),
        ff(this, "ff", FeedForward::Config{c.d_model, c.hidden_multiplier, c.activation, c.bias}),
        norm1(this, "norm1", make_norm(c.norm, c.d_model, c.bias)),
        norm2(this, "norm2", make_norm(c.norm, c.d_model, c.bias)),
        norm3(this, "norm3", make_norm(c.norm, c.d_model, c.bias)),
        drop_shortcut(this, "drop_shortcut", Dropout::Config{c.dropout}) {}

  bool causal() const override { return true; }
  bool takes_context() const override { return true; }

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

 private:
  static MultiHeadAttention::Config self_attention(const Config& c) {
    MultiHeadAttention::Config attention{c.d_model, c.d_model, c.context_length, c.num_heads};
    attention.dropout = c.dropout;
    attention.qkv_bias = c.qkv_bias;
    attention.out_bias = c.bias;
    return attention;
  }
  static CrossAttention::Config attention_to_context(const Config& c) {
    CrossAttention::Config attention{c.d_model, c.d_model, c.num_heads};
    attention.dropout = c.dropout;
    attention.qkv_bias = c.qkv_bias;
    attention.out_bias = c.bias;
    return attention;
  }
};
HEED_LAYER(DecoderBlock, "decoder_block");

}  // namespace heed
