#include "layers/multi_head_attention.h"

#include "layers/packed_attention.h"

namespace heed {

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
      out_proj(optional_child<Linear>(
          c.out_proj, this, "out_proj",
          Linear::Config{.d_in = c.d_out, .d_out = c.d_out, .bias = c.out_bias})),
      angles_(c.angles()) {
  require<ConfigError>(!c.packed,
                       "multi_head_attention: expected packed false; PackedAttention is ",
                       "the class of packed ones");
}

}  // namespace heed
