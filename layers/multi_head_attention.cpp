#include "layers/multi_head_attention.h"

#include "layers/packed_attention.h"

namespace heed {

void MultiHeadAttention::Config::packed_fields(Fields& f) {
  f.required("d_in", d_in, at_least(1), "width of x").example(4);
  f.required("d_out", d_out, at_least(1), "width of the output, all heads together").example(8);
  f.required("context_length", context_length, at_least(1), "largest number of tokens").example(6);
  f.required("num_heads", num_heads, at_least(1), "number of heads").shows(false).example(2);
  f.optional("dropout", dropout, probability, "chance to drop an attention weight")
      .also_try({0.25});
  f.optional("qkv_bias", qkv_bias, "bias in the three projections").shows();
  f.optional("out_proj", out_proj, "a last Linear over all heads").shows();
  f.optional("out_bias", out_bias, "bias in that last Linear").shows().only_with("out_proj");
  f.optional("causal", causal, "hide the tokens that come after");
  f.optional("rope", rope, "turn queries and keys by their positions");
  f.optional("rope_base", rope_base, above(0), "the slowest turn is about 1 / rope_base");
  f.optional("rotary_fraction", rotary_fraction, in_range(0, 1, Bound::open),
             "part of each head that turns: its first elements, an even number of them")
      .also_known_as({"rotary_pct", "partial_rotary_factor"});
  f.group("rope_scaling", rope_scaling, "slower turns for a longer context, as in Llama 3.1")
      .only_with("rope");
  f.optional(
       "scale", scale, any_number,
       "attn_scores are multiplied by it; auto: 1 / sqrt(head width), 1: unscaled, 0: one mean "
       "for all",
       "auto")
      .also_try({0.5});
  attention_weights_field(f, attention_weights);
  f.optional("window", window, at_least(1), "tokens that one sees, itself included", "all")
      .also_try({3})
      .also_known_as({"sliding_window"});
  f.optional("sinks", sinks, at_least(0), "first tokens that stay visible in a window");
  f.optional("soft_cap", soft_cap, above(0), "attn_scores stay between -C and C", "none")
      .also_try({2})
      .also_known_as({"attn_logit_softcapping"});
  f.optional("alibi", alibi, "attn_scores fall with the distance, a head more than the next");
}

void MultiHeadAttention::Config::check(ConfigErrors& errors, const ConfigNode& at) const {
  if (!head_dim && !errors.check_divides(at, "num_heads", num_heads, "d_out", d_out)) return;
  errors.check_divides(at, "num_kv_heads", kv_heads(), "num_heads", num_heads);
  const auto unpacked = [&](const char* field, bool usual, const auto& expected, const auto& got) {
    if (packed && !usual) {
      errors.add_field(at, field, "with packed: true expected ", expected, ", got ", got);
    }
  };
  unpacked("num_kv_heads", kv_heads() == num_heads, text("all heads, ", num_heads), kv_heads());
  unpacked("head_dim", !head_dim, "auto", head_width());
  unpacked("qk_norm", qk_norm == "none", "none", qk_norm);
  if (!out_proj && all_heads() != d_out) {
    errors.add_field(at, "head_dim", *head_dim, " without out_proj: num_heads times it must be ",
                     "d_out ", d_out);
  }
  if (qk_norm == "none" && at.has("norm_eps") && norm_eps != Config{}.norm_eps) {
    errors.add_field(at, "norm_eps", norm_eps, " has no effect with qk_norm none");
  }
  const auto of_rope = [&](const char* field, double value, double usual) {
    if (!rope && value != usual) {
      errors.add_field(at, field, value, " has no effect with rope false; write rope: true, or ",
                       "leave ", field, " out");
    }
  };
  of_rope("rope_base", rope_base, Config{}.rope_base);
  of_rope("rotary_fraction", rotary_fraction, Config{}.rotary_fraction);
  check_visibility(errors, at);
  if (rope && (rotary_width() % 2 != 0 || rotary_width() == 0)) {
    errors.add_field(at, rotary_fraction == 1 ? "rope" : "rotary_fraction",
                     "expected an even number of the ", head_width(),
                     " elements of a head to turn, got ", rotary_width());
  }
}

void MultiHeadAttention::Config::check_visibility(ConfigErrors& errors,
                                                  const ConfigNode& at) const {
  const auto needs = [&](const char* field, bool is_set, bool met, const char* rule) {
    if (is_set && !met) errors.add_field(at, field, rule);
  };
  needs("window", window.has_value(), causal, "needs causal: true: it counts earlier tokens");
  if (window && causal && *window >= context_length - sinks) {
    errors.add_field(at, "window", *window,
                     sinks > 0 ? text(" and sinks ", sinks, " hide") : " hides",
                     " nothing of context_length ", context_length);
  }
  needs("sinks", sinks > 0, window.has_value(), "has no effect without a window");
  needs("alibi", alibi, causal, "needs causal: true: it counts earlier tokens");
  needs("alibi", alibi, !rope, "expected one kind of positions, got rope: true as well");
  needs("alibi", alibi, attention_weights == "softmax", "needs attention_weights: softmax");
}

std::unique_ptr<Module> MultiHeadAttention::make(const Config& c) {
  if (c.packed) {
    return std::make_unique<PackedAttention>(PackedAttention::Config{c});
  }
  return std::make_unique<MultiHeadAttention>(c);
}

namespace {

std::unique_ptr<Module> norm_of_heads(const MultiHeadAttention::Config& c) {
  if (c.qk_norm == "none") return nullptr;
  ConfigNode options = ConfigNode::map({{"d_model", c.head_width()}, {"eps", c.norm_eps}});
  if (c.qk_norm == "layer_norm") options.set("bias", false);
  return make_layer(c.qk_norm, options);
}

}  // namespace

Tensor MultiHeadAttention::normed(const std::optional<Child<Module>>& norm, const Tensor& x) const {
  if (!norm) return x;
  const int64_t width = config.head_width();
  const Tensor heads = reshape(x, {x.dim(0), x.dim(1) * (x.dim(2) / width), width});
  return reshape((*norm)(heads), x.shape());
}

MultiHeadAttention::MultiHeadAttention(const Config& c)
    : config(checked(c)),
      W_query(this, "W_query",
              Linear::Config{.d_in = c.d_in, .d_out = c.all_heads(), .bias = c.qkv_bias}),
      W_key(this, "W_key",
            Linear::Config{.d_in = c.d_in,
                           .d_out = saturated_product(c.kv_heads(), c.head_width()),
                           .bias = c.qkv_bias}),
      W_value(this, "W_value", W_key->config),
      out_proj(optional_child<Linear>(
          c.out_proj, this, "out_proj",
          Linear::Config{.d_in = c.all_heads(), .d_out = c.d_out, .bias = c.out_bias})),
      q_norm(optional_child(this, "q_norm", norm_of_heads(c))),
      k_norm(optional_child(this, "k_norm", norm_of_heads(c))),
      angles_(c.angles()) {
  require<ConfigError>(!c.packed,
                       "multi_head_attention: expected packed false; PackedAttention is ",
                       "the class of packed ones");
}

}  // namespace heed
