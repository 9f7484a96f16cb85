// The fields that models of transformer blocks share, and their rules.
#pragma once

#include <optional>

#include "layers/activation.h"
#include "layers/config/defaults.h"
#include "layers/module/registry.h"

namespace heed {

struct BlockConfig {
  int64_t d_model = 0;
  int64_t context_length = 0;
  int64_t num_heads = 0;
  double dropout = 0;
  bool qkv_bias = false;
  bool bias = true;
  bool parallel_residual = false;
  std::string norm = "layer_norm";
  double norm_eps = 1e-5;
  std::string activation = "gelu_tanh";
  int64_t hidden_multiplier = 4;
  std::optional<int64_t> ff_width;                // of the feed-forward, instead of the multiplier
  LayerChoice feed_forward{"feed_forward"};       // "none": blocks of attention alone
  LayerChoice attention{"multi_head_attention"};  // of blocks that let it be chosen

  // The config of block i: blocks take the attentions of a list in turn.
  BlockConfig block(int64_t i) const;
  // Expects a config that was checked.
  bool has_feed_forward() const { return static_cast<bool>(feed_forward); }

  void fields(Fields& f);
  // All but attention and parallel_residual, which not every model has.
  void block_fields(Fields& f) {
    f.required("context_length", context_length, at_least(1), "largest number of tokens")
        .example(6);
    f.required("d_model", d_model, at_least(1), "width of the embeddings and blocks").example(4);
    if (num_heads > 0) {
      f.optional("num_heads", num_heads, at_least(1), "number of attention heads").also_try({2});
    } else {
      f.required("num_heads", num_heads, at_least(1), "number of attention heads")
          .shows(false)
          .example(2);
    }
    f.optional("dropout", dropout, probability, "chance to drop a number").also_try({0.25});
    f.optional("qkv_bias", qkv_bias, "bias in the query, key and value projections").shows();
    f.optional("bias", bias, "bias in all other Linear layers and shift in the norms").shows();
    f.choice("norm", norm, {"layer_norm", "rms_norm"}, "which norm");
    f.optional("norm_eps", norm_eps, above(0),
               "of the norms, added to the variance or mean square");
    FieldInfo& ff = f.section(
        "feed_forward", feed_forward, "layer",
        "any layer (B, T, d_model) -> (B, T, d_model); none: blocks of attention alone",
        [this](Defaults& d) { fill_feed_forward(d); }, true);
    ff.short_form = true;
    ff.off_word = "none";
    f.choice("activation", activation, feed_forward_activations,
             "activation of the feed-forward; swiglu: gated, as in Llama");
    f.optional("hidden_multiplier", hidden_multiplier, at_least(1),
               "hidden width of the feed-forward / d_model")
        .shows();
    f.optional("ff_width", ff_width, at_least(1), "hidden width of the feed-forward itself",
               "hidden_multiplier * d_model")
        .shows()
        .also_try({3});
  }
  void parallel_residual_field(Fields& f) {
    f.optional("parallel_residual", parallel_residual,
               "attention and feed-forward read the same x, as in GPT-NeoX");
  }
  // Declares `attention`, which gets what every block fills in and what `also` adds.
  FieldInfo& attention_field(Fields& f, Fill also = {});
  // Fills in what attention takes from its block, for sequences of at most `longest` tokens.
  // layers/README.md lists the names.
  void fill_attention(Defaults& d, const int64_t& longest) const;
  void fill_feed_forward(Defaults& d) const;

  void check(ConfigErrors& errors, const ConfigNode& at) const;
  // Reports attention that has another number of heads than its model.
  void check_heads(ConfigErrors& errors, const ConfigNode& at) const;
};

// The value of a field in a list of attentions: `wanted` if one of them has it, else that of the
// last. Null if none has such a field.
template <class T>
const T* value_in_any(const LayerChoice& attention, const std::string& field, const T& wanted) {
  const T* found = nullptr;
  for (const LayerChoice& one : attention.all()) {
    const T* const own = one.find<T>(field);
    if (own != nullptr && (found == nullptr || *found != wanted)) found = own;
  }
  return found;
}

// The norm of a block. rms_norm has no bias.
std::unique_ptr<Module> make_norm(const BlockConfig& c);

}  // namespace heed
