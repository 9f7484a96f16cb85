#include "layers/multi_head_attention.h"

#include "layers/packed_attention.h"

namespace heed {

void MultiHeadAttention::Config::fields(Fields& f) {
  packed_fields(f);
  f.optional("packed", packed, "one in_proj_weight, as torch.nn.MultiheadAttention");
  f.optional("num_kv_heads", num_kv_heads, at_least(1), "heads of keys and values", "all")
      .also_try({1});
}

void MultiHeadAttention::Config::packed_fields(Fields& f) {
  f.required("d_in", d_in, at_least(1), "width of x").example(4);
  f.required("d_out", d_out, at_least(1), "width of the output, all heads together").example(8);
  f.required("context_length", context_length, at_least(1), "largest number of tokens").example(6);
  f.required("num_heads", num_heads, at_least(1), "number of heads").example(2);
  f.optional("dropout", dropout, probability, "chance to drop an attention weight")
      .also_try({0.25});
  f.optional("qkv_bias", qkv_bias, "bias in the three projections");
  f.optional("out_proj", out_proj, "a last Linear over all heads");
  f.optional("out_bias", out_bias, "bias in that last Linear");
  f.optional("causal", causal, "hide the tokens that come after");
  f.optional("rope", rope, "turn queries and keys by their positions");
  f.optional("rope_base", rope_base, above(0), "the slowest turn is about 1 / rope_base");
  f.optional("scale", scale, any_number,
             "attn_scores are multiplied by it; auto: 1 / sqrt(d_out / num_heads), 1: unscaled, "
             "0: one mean for all",
             "auto")
      .also_try({0.5});
}

void MultiHeadAttention::Config::check(ConfigErrors& errors, const ConfigNode& at) const {
  if (d_out % num_heads != 0) {
    errors.add_field(at, "num_heads", "must divide d_out: d_out is ", d_out, ", num_heads is ",
                     num_heads);
    return;
  }
  if (num_heads % kv_heads() != 0) {
    errors.add_field(at, "num_kv_heads", "must divide num_heads: num_heads is ", num_heads,
                     ", num_kv_heads is ", kv_heads());
  }
  if (packed && kv_heads() != num_heads) {
    errors.add_field(at, "num_kv_heads", "with packed: true expected all heads, ", num_heads,
                     ", got ", kv_heads());
  }
  if (!rope && rope_base != Config{}.rope_base) {
    errors.add_field(at, "rope_base", rope_base, " has no effect with rope false; write ",
                     "rope: true, or leave rope_base out");
  }
  if (rope && head_width() % 2 != 0) {
    errors.add_field(at, "rope", "needs an even head width, d_out / num_heads is ", head_width());
  }
}

std::unique_ptr<Module> MultiHeadAttention::make(const Config& c) {
  if (c.packed) {
    return std::make_unique<PackedAttention>(PackedAttention::Config{c});
  }
  return std::make_unique<MultiHeadAttention>(c);
}

MultiHeadAttention::MultiHeadAttention(const Config& c)
    : config(checked(c)),
      W_query(this, "W_query",
              Linear::Config{.d_in = c.d_in, .d_out = c.d_out, .bias = c.qkv_bias}),
      W_key(this, "W_key",
            Linear::Config{
                .d_in = c.d_in, .d_out = c.kv_heads() * c.head_width(), .bias = c.qkv_bias}),
      W_value(this, "W_value", W_key->config),
      angles_(c.angles()) {
  require<ConfigError>(!c.packed,
                       "multi_head_attention: expected packed false; PackedAttention is ",
                       "the class of packed ones");
  if (c.out_proj) {
    out_proj.emplace(this, "out_proj",
                     Linear::Config{.d_in = c.d_out, .d_out = c.d_out, .bias = c.out_bias});
  }
}

}  // namespace heed
