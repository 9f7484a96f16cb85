#include "layers/multi_head_attention.h"

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
  variant.fields(f);
}

void MultiHeadAttention::Config::fields(Fields& f) {
  packed_fields(f);
  f.optional("packed", packed, "one in_proj_weight, as torch.nn.MultiheadAttention").shows();
  variant.head_fields(f);
}

void MultiHeadAttention::Config::check(ConfigErrors& errors, const ConfigNode& at) const {
  if (!variant.head_dim && !errors.check_divides(at, "num_heads", num_heads, "d_out", d_out)) {
    return;
  }
  variant.check(errors, at, sizes());
  const auto unpacked = [&](const char* field, bool usual, const auto& expected, const auto& got) {
    if (packed && !usual) {
      errors.add_field(at, field, "with packed: true expected ", expected, ", got ", got);
    }
  };
  unpacked("num_kv_heads", kv_heads() == num_heads, text("all heads, ", num_heads), kv_heads());
  unpacked("head_dim", !variant.head_dim, "auto", head_width());
  unpacked("qk_norm", variant.qk_norm == "none", "none", variant.qk_norm);
  if (!out_proj && all_heads() != d_out) {
    errors.add_field(at, "head_dim", head_width(), " without out_proj: num_heads times it must be ",
                     "d_out ", d_out);
  }
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
      q_norm(optional_child(this, "q_norm", c.variant.head_norm(c.head_width()))),
      k_norm(optional_child(this, "k_norm", c.variant.head_norm(c.head_width()))),
      angles_(c.variant.angles(c.sizes())) {
  require<ConfigError>(!c.packed,
                       "multi_head_attention: expected packed false; PackedAttention is ",
                       "the class of packed ones");
}

Tensor MultiHeadAttention::prepared(const Tensor& heads, const std::optional<Child<Module>>& norm,
                                    const Input& in) const {
  const int64_t width = config.head_width();
  if (!norm) return config.variant.rotated(heads, angles_, in, width);
  const int64_t count = heads.dim(1) * (heads.dim(2) / width);  // heads of all tokens
  const Tensor each = reshape(heads, {heads.dim(0), count, width});
  return config.variant.rotated(reshape((*norm)(each), heads.shape()), angles_, in, width);
}

}  // namespace heed
