// One decoder block of an encoder-decoder: causal self-attention, cross-attention to the output of
// the encoder, and feed-forward, each preceded by a norm and bypassed by a shortcut. Vaswani et al.
// 2017, section 3.1, but with the norm first (pre-norm), as in transformer_block.h.
//   x (B, T, d_model), context (B, S, d_model) -> x (B, T, d_model)
//   x = x + drop(att(norm1(x)))
//   x = x + drop(cross_att(norm2(x), context))
//   x = x + drop(ff(norm3(x)))        unless feed_forward: none
// The mask applies to the context only, x_mask to the feed-forward. Self-attention is causal.
#pragma once

#include "layers/multi_head_attention.h"
#include "layers/transformer_block.h"
#include "train/extras/sequence_models/layers/cross_attention.h"

namespace heed {

// Declares the field of a cross-attention that is chosen, with what the block around it fills in.
inline void cross_attention_field(Fields& f, LayerChoice& choice, const BlockConfig& around) {
  f.layer("cross_attention", choice,
          "any layer x (B, T, d_model), context (B, S, d_model) -> (B, T, d_model)",
          [&around](Defaults& d) { around.fill_attention(d, around.context_length); });
}

class DecoderBlock final : public Module {
 public:
  static constexpr const char* help = "causal self-attention, cross-attention and feed-forward";

  struct Config : BlockConfig {
    LayerChoice cross_attention{"cross_attention"};
    void fields(Fields& f) {
      block_fields(f);
      attention_field(f);
      cross_attention_field(f, cross_attention, *this);
    }
  };

  // Throws ConfigError if the attention is not causal, or the cross-attention reads no context.
  explicit DecoderBlock(const Config& c)
      : config(checked(c)),
        att(this, "att", make_layer(config.attention)),
        cross_att(this, "cross_att", make_layer(config.cross_attention)),
        ff(optional_child(this, "ff",
                          config.has_feed_forward() ? make_layer(config.feed_forward) : nullptr)),
        norm1(this, "norm1", make_norm(c)),
        norm2(this, "norm2", make_norm(c)),
        norm3(optional_child(this, "norm3", ff ? make_norm(c) : nullptr)),
        drop_shortcut(this, "drop_shortcut", Dropout::Config{.dropout = c.dropout}) {
    require<ConfigError>(att->signature().causal,
                         "decoder_block: expected a causal attention, got ",
                         config.attention.type(), ", which sees later tokens");
    require<ConfigError>(cross_att->signature().context, "decoder_block: expected a ",
                         "cross_attention that reads a context, got ",
                         config.cross_attention.type());
    require<ConfigError>(!ff || (*ff)->signature().causal, "decoder_block: expected a ",
                         "feed_forward that sees no later tokens, got ",
                         config.feed_forward.type());
  }

  Signature signature() const override {
    return {.width = config.d_model,
            .longest = config.context_length,
            .context = true,
            .context_width = config.d_model,
            .mask = true,
            .causal = true};
  }

  std::vector<Branch> branches() const override {
    std::vector<Branch> all{{&*norm1, &*att, true}, {&*norm2, &*cross_att, true}};
    if (ff) all.push_back({&**norm3, &**ff, false});
    return all;
  }

  const Config config;
  Child<Module> att, cross_att;
  std::optional<Child<Module>> ff;
  Child<Module> norm1, norm2;
  std::optional<Child<Module>> norm3;
  Child<Dropout> drop_shortcut;

 protected:
  Tensor forward(const Input& in) override {
    Tensor x = drop_shortcut->add_to(in.x, attended(att, norm1(in.x)));
    x = drop_shortcut->add_to(x, attended(cross_att, in.with(norm2(x))));
    return ff ? drop_shortcut->add_to(x, fed(*ff, {(*norm3)(x), in.x_mask})) : x;
  }

 private:
  static Tensor attended(const Child<Module>& attention, const Input& in) {
    Tensor y = attention(in);
    require(y.shape() == in.x.shape(), "decoder_block: expected ", attention->path(), " to give ",
            in.x.shape(), ", the shape of x, got ", y.shape());
    return y;
  }
};
HEED_LAYER(DecoderBlock, "decoder_block");

}  // namespace heed
