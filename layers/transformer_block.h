// One block of a GPT: attention and feed-forward, each preceded by a norm and bypassed by a
// shortcut. The book, section 4.5; Radford et al. 2019 (pre-norm).
//   x (B, T, d_model) -> x (B, T, d_model)
//   x = x + drop(att(norm1(x)))
//   x = x + drop(ff(norm2(x)))
#pragma once

#include "autograd/ops/arithmetic.h"
#include "layers/dropout.h"
#include "layers/feed_forward.h"
#include "layers/layer_norm.h"

namespace heed {

// The values of a model's `norm:`.
inline const std::vector<std::string> norm_names{"layer_norm", "rms_norm"};
// Makes one of these norms. `bias`: whether layer_norm has a shift; rms_norm never has one.
inline std::unique_ptr<Module> make_norm(const std::string& norm, int64_t d_model, bool bias) {
  ConfigNode options = ConfigNode::map({{"d_model", d_model}});
  if (norm == "layer_norm") {
    options.set("bias", bias);
  }
  return make_layer(norm, options);
}

// The words of the book, nanoGPT, Hugging Face and PyTorch for the sizes of a model.
inline const std::vector<std::string> width_words{"emb_dim", "n_embd", "hidden_size", "embed_dim"};
inline const std::vector<std::string> heads_words{"n_heads", "n_head", "num_attention_heads",
                                                  "nhead"};
inline const std::vector<std::string> layers_words{"n_layers", "n_layer", "num_hidden_layers"};
inline const std::vector<std::string> length_words{"block_size", "max_position_embeddings"};
inline const std::vector<std::string> dropout_words{"drop_rate"};
inline const std::vector<std::string> vocabulary_words{"vocab", "n_vocab"};

// Options of the attention layer that a model fills in unless the config gives them (see Fills).
inline const Fills attention_fills{{"d_in", "d_model"},
                                   {"d_out", "d_model"},
                                   {"d_head", "d_model/num_heads"},
                                   {"context_length", "context_length"},
                                   {"num_heads", "num_heads"},
                                   {"dropout", "dropout"},
                                   {"qkv_bias", "qkv_bias"},
                                   {"out_bias", "bias"},
                                   {"num_kv_heads", "num_kv_heads"},
                                   {"rope", "position=rope"}};

// Checks the attention of a model with its other options. `at` is the model as it was written: an
// option that is filled in is no mistake.
inline void check_attention(ConfigErrors& errors, const ConfigNode& at, const Spec& attention,
                            int64_t num_heads) {
  const ConfigNode& written = at.get("attention");
  if (written.get("out_proj").text() == "false" && written.get("out_bias").text() == "true") {
    errors.add_field(written, "out_bias", "true has no effect with out_proj false; leave one out");
  }
  const ConfigNode& heads = attention.options.get("num_heads");
  if (!heads.is_absent() && num_heads > 1 && heads.text() != std::to_string(num_heads)) {
    errors.add_field(at, "num_heads", num_heads, " is not attention.num_heads ", heads.text(),
                     "; give the number of heads once");
  }
}

class TransformerBlock final : public Module {
 public:
  static constexpr const char* help = "attention and feed-forward with norms and shortcuts";

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
    LayerSpec attention{"multi_head_attention", {}};
    void fields(Fields& f) {
      f.required("d_model", d_model, at_least(1), "width of x")
          .example(4)
          .also_known_as(width_words);
      f.required("context_length", context_length, at_least(1), "largest number of tokens")
          .example(6)
          .also_known_as(length_words);
      f.required("num_heads", num_heads, at_least(1), "number of attention heads")
          .example(2)
          .also_known_as(heads_words);
      f.optional("dropout", dropout, probability, "chance to drop a number")
          .also_try({0.25})
          .also_known_as(dropout_words);
      f.optional("qkv_bias", qkv_bias, "bias in the query, key and value projections");
      f.optional("bias", bias, "bias in all other Linear layers and shift in the norms");
      f.choice("norm", norm, norm_names, "which norm stands before attention and feed-forward");
      f.choice("activation", activation, activation_names, "activation of the feed-forward");
      f.optional("hidden_multiplier", hidden_multiplier, at_least(1),
                 "hidden width of the feed-forward / d_model");
      f.layer("attention", attention, "any layer (B, T, d_model) -> (B, T, d_model)",
              attention_fills);
    }
  };

  explicit TransformerBlock(const Config& c)
      : config(checked(c)),
        att(this, "att", make_layer(config.attention)),
        ff(this, "ff", FeedForward::Config{c.d_model, c.hidden_multiplier, c.activation, c.bias}),
        norm1(this, "norm1", make_norm(c.norm, c.d_model, c.bias)),
        norm2(this, "norm2", make_norm(c.norm, c.d_model, c.bias)),
        drop_shortcut(this, "drop_shortcut", Dropout::Config{c.dropout}) {}

  bool causal() const override { return att->causal(); }
  bool takes_cache() const override { return att->takes_cache(); }
  bool takes_context() const override { return att->takes_context(); }

  const Config config;
  Child<Module> att;
  Child<FeedForward> ff;
  Child<Module> norm1, norm2;
  Child<Dropout> drop_shortcut;

 protected:
  Tensor forward(const Input& in) override {
    const Tensor attended = att(in.with(norm1(in.x)));
    require(attended.shape() == in.x.shape(), "transformer_block: expected the attention to give ",
            in.x.shape(), ", the shape of x, got ", attended.shape());
    const Tensor x = drop_shortcut->add_to(in.x, attended);
    return drop_shortcut->add_to(x, ff(norm2(x)));
  }
};
HEED_LAYER(TransformerBlock, "transformer_block");

}  // namespace heed
