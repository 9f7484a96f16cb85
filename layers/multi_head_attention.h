// Multi-head attention with weight splits: one projection for all heads, split into num_heads.
// The book, section 3.6.2; Vaswani et al. 2017, section 3.2.2.
//   x (B, T <= context_length, d_in) -> context_vec (B, T, d_out);   head width d_out / num_heads
// In each head:
//   attn_scores  = queries keys^T / sqrt(head width), -infinity where the key comes after the query
//   attn_weights = softmax(attn_scores)
//   heads        = dropout(attn_weights) values
// context_vec = out_proj(all heads side by side)
#pragma once

#include <optional>

#include "autograd/array/shape.h"
#include "layers/attention_options.h"
#include "layers/linear.h"
#include "layers/module/children.h"

namespace heed {

class MultiHeadAttention final : public Module {
 public:
  static constexpr const char* help = "multi-head attention with weight split (book, 3.6)";

  struct Config {
    int64_t d_in = 0;
    int64_t d_out = 0;
    int64_t context_length = 0;
    int64_t num_heads = 0;
    double dropout = 0;
    bool qkv_bias = false;
    bool out_proj = true;
    bool out_bias = true;
    bool causal = true;
    bool packed = false;            // make() then returns a PackedAttention
    AttentionVariant variant = {};  // rope, window, ...: what later models changed
    void fields(Fields& f);
    // The fields that packed_attention has, too.
    void packed_fields(Fields& f);
    void check(ConfigErrors& errors, const ConfigNode& at) const;

    int64_t kv_heads() const { return variant.num_kv_heads.value_or(num_heads); }
    int64_t head_width() const { return variant.head_dim.value_or(d_out / num_heads); }
    int64_t all_heads() const { return saturated_product(num_heads, head_width()); }
    AttentionSizes sizes() const { return {context_length, num_heads, head_width(), causal}; }
    AttentionOptions options() const { return variant.options(sizes()); }
    Signature signature() const {
      return {.width = d_in,
              .longest = context_length,
              .mask = true,
              .causal = causal,
              .cache = causal,
              .unbounded = variant.forgets(),
              .cache_batch = true};
    }
  };

  // The layer of a config: a PackedAttention if c.packed is set. Defined in packed_attention.cpp.
  static std::unique_ptr<Module> make(const Config& c);

  // Throws ConfigError if c.packed is set.
  explicit MultiHeadAttention(const Config& c);

  Signature signature() const override { return config.signature(); }
  std::vector<Tensor> last_matrices() const override { return last_matrix(out_proj); }

  const Config config;
  Child<Linear> W_query, W_key, W_value;
  std::optional<Child<Linear>> out_proj;
  std::optional<Child<Module>> q_norm, k_norm;  // with qk_norm

 protected:
  Tensor forward(const Input& in) override {
    const Tensor x = with_batch("multi_head_attention", in.x, config.d_in);
    require_context("multi_head_attention", in, config.context_length, config.variant.forgets());
    const Tensor queries = prepared(W_query(x), q_norm, in);  // (B, T, num_heads head_width)
    const Tensor keys = prepared(W_key(x), k_norm, in);       // (B, T, kv_heads head_width)
    const Tensor values = W_value(x);
    const Tensor context_vec =
        attend(*this, in, queries, keys, values, config.dropout, config.options());
    return without_batch(out_proj ? (*out_proj)(context_vec) : context_vec, in.x);
  }

 private:
  // Queries or keys with qk_norm and rope; unchanged without them.
  Tensor prepared(const Tensor& heads, const std::optional<Child<Module>>& norm,
                  const Input& in) const;

  const Array angles_;  // of rope
};
HEED_LAYER(MultiHeadAttention, "multi_head_attention");

}  // namespace heed
