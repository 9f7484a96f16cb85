#include "layers/attention_options.h"

#include "autograd/ops/rotary.h"

namespace heed {

void AttentionVariant::fields(Fields& f) {
  f.optional("rope", rope, "turn queries and keys by their positions");
  f.optional("rope_base", rope_base, above(0), "the slowest turn is about 1 / rope_base");
  f.optional("rotary_fraction", rotary_fraction, in_range(0, 1, Bound::open),
             "part of each head that turns: its first elements, an even number of them");
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
      .also_try({3});
  f.optional("sinks", sinks, at_least(0), "first tokens that stay visible in a window");
  f.optional("soft_cap", soft_cap, above(0), "attn_scores stay between -C and C", "none")
      .also_try({2});
  f.optional("alibi", alibi, "attn_scores fall with the distance, a head more than the next");
}

void AttentionVariant::head_fields(Fields& f) {
  f.optional("num_kv_heads", num_kv_heads, at_least(1), "heads of keys and values", "all")
      .shows()
      .also_try({1});
  f.optional("head_dim", head_dim, at_least(1), "width of a head; auto: d_out / num_heads", "auto")
      .shows()
      .also_try({3});
  f.choice("qk_norm", qk_norm, {"none", "rms_norm", "layer_norm"},
           "norm over the width of each head of queries and keys");
  f.optional("norm_eps", norm_eps, above(0), "of that norm, added to its mean square");
}

void AttentionVariant::check(ConfigErrors& errors, const ConfigNode& at,
                             const AttentionSizes& layer) const {
  const AttentionVariant usual;
  const auto needs = [&](const char* field, bool is_set, bool met, const char* rule) {
    if (is_set && !met) errors.add_field(at, field, rule);
  };
  const auto of_rope = [&](const char* field, double value, double usual_value) {
    if (!rope && value != usual_value) {
      errors.add_field(at, field, value, " has no effect with rope false; write rope: true, or ",
                       "leave ", field, " out");
    }
  };
  if (num_kv_heads) {
    errors.check_divides(at, "num_kv_heads", *num_kv_heads, "num_heads", layer.num_heads);
  }
  if (qk_norm == "none" && at.has("norm_eps") && norm_eps != usual.norm_eps) {
    errors.add_field(at, "norm_eps", norm_eps, " has no effect with qk_norm none");
  }
  of_rope("rope_base", rope_base, usual.rope_base);
  of_rope("rotary_fraction", rotary_fraction, usual.rotary_fraction);
  needs("window", window.has_value(), layer.causal, "needs causal: true: it counts earlier tokens");
  if (window && layer.causal && *window >= layer.context_length - sinks) {
    errors.add_field(at, "window", *window,
                     sinks > 0 ? text(" and sinks ", sinks, " hide") : " hides",
                     " nothing of context_length ", layer.context_length);
  }
  needs("sinks", sinks > 0, window.has_value(), "has no effect without a window");
  needs("alibi", alibi, layer.causal, "needs causal: true: it counts earlier tokens");
  needs("alibi", alibi, !rope, "expected one kind of positions, got rope: true as well");
  needs("alibi", alibi, attention_weights == "softmax", "needs attention_weights: softmax");
  const int64_t rotated = rotary_width(layer.head_width);
  if (rope && (rotated % 2 != 0 || rotated == 0)) {
    errors.add_field(at, rotary_fraction == 1 ? "rope" : "rotary_fraction",
                     "expected an even number of the ", layer.head_width,
                     " elements of a head to turn, got ", rotated);
  }
}

Array AttentionVariant::angles(const AttentionSizes& layer) const {
  if (!rope) return Array();
  return rotary_table(layer.context_length, rotary_width(layer.head_width), rope_base,
                      rope_scaling);
}

Tensor AttentionVariant::rotated(const Tensor& x, const Array& table, const Input& in,
                                 int64_t head_width) const {
  const int64_t first = in.past(), tokens = x.dim(1);
  if (!table || first + tokens <= table.dim(0)) return heed::rotated(x, table, in, head_width);
  return rotary(x, rotary_table(tokens, table.dim(1), rope_base, rope_scaling, first), 0,
                head_width);
}

std::unique_ptr<Module> AttentionVariant::head_norm(int64_t head_width) const {
  if (qk_norm == "none") return nullptr;
  ConfigNode options = ConfigNode::map({{"d_model", head_width}, {"eps", norm_eps}});
  if (qk_norm == "layer_norm") options.set("bias", false);
  return make_layer(qk_norm, options);
}

AttentionOptions AttentionVariant::options(const AttentionSizes& layer) const {
  return {.num_heads = layer.num_heads,
          .num_kv_heads = num_kv_heads.value_or(layer.num_heads),
          .causal = layer.causal,
          .window = window.value_or(0),
          .sinks = sinks,
          .scale = scale,
          .soft_cap = static_cast<real>(soft_cap.value_or(0)),
          .alibi = alibi,
          .normalisation = normalisation_of(attention_weights)};
}

}  // namespace heed
