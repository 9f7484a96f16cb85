// Multi-head attention with weight splits: one projection for all heads, split into num_heads.
// The book, section 3.6.2; Vaswani et al. 2017, section 3.2.2.
//   x (B, T <= context_length, d_in) -> context_vec (B, T, d_out)
//   head width d_out / num_heads, or head_dim: then out_proj leads back to d_out, as in Qwen 3
// num_kv_heads: grouped-query attention (Ainslie et al. 2023, arXiv:2305.13245). Every
// num_heads / num_kv_heads query heads share one key and one value head, so W_key and W_value are
// narrower.
// rope: queries and keys are rotated by their positions (autograd/ops/rotary.h), or the first
// rotary_fraction of the elements of each head, as in GPT-NeoX; by other angles with rope_scaling.
// scale: attn_scores are multiplied by it, by 1 / sqrt(head width) if it is absent.
// attention_weights: what makes weights of scores, if not softmax. Without a kernel of its own.
// window: a token sees itself and the window - 1 tokens before it (Beltagy, Peters and Cohan 2020),
// and the first `sinks` tokens (Xiao et al. 2023, arXiv:2309.17453).
// soft_cap C, alibi: attn_scores become C tanh(attn_scores / C) (Gemma 2, arXiv:2408.00118), and
// fall with the distance (alibi_slope).
// qk_norm: each head of queries and keys is normalised before it is rotated (Henry et al. 2020),
// with weights for all heads, q_norm.scale and k_norm.scale (head width), as in Qwen 3.
// packed: another spelling of packed_attention, which the registry makes of it.
#pragma once

#include <optional>

#include "autograd/array/shape.h"
#include "autograd/ops/rotary.h"
#include "layers/linear.h"
#include "layers/module/attend.h"
#include "layers/module/children.h"
#include "layers/rope_scaling.h"

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
    bool packed = false;
    std::optional<int64_t> num_kv_heads = std::nullopt;
    std::optional<int64_t> head_dim = std::nullopt;
    bool rope = false;
    double rope_base = 10000;
    double rotary_fraction = 1;
    RopeScaling rope_scaling = {};
    std::optional<double> scale = std::nullopt;
    std::string attention_weights = "softmax";
    std::optional<int64_t> window = std::nullopt;
    int64_t sinks = 0;
    std::optional<double> soft_cap = std::nullopt;
    bool alibi = false;
    std::string qk_norm = "none";
    double norm_eps = 1e-5;
    void fields(Fields& f) {
      packed_fields(f);
      f.optional("packed", packed, "one in_proj_weight, as torch.nn.MultiheadAttention").shows();
      f.optional("num_kv_heads", num_kv_heads, at_least(1), "heads of keys and values", "all")
          .also_try({1});
      f.optional("head_dim", head_dim, at_least(1), "width of a head; auto: d_out / num_heads",
                 "auto")
          .shows()
          .also_try({3});
      f.choice("qk_norm", qk_norm, {"none", "rms_norm", "layer_norm"},
               "norm over the width of each head of queries and keys");
      f.optional("norm_eps", norm_eps, above(0), "of that norm, added to its mean square");
    }
    // Without those that packed_attention does not have.
    void packed_fields(Fields& f);
    void check(ConfigErrors& errors, const ConfigNode& at) const;
    void check_visibility(ConfigErrors& errors, const ConfigNode& at) const;

    int64_t kv_heads() const { return num_kv_heads.value_or(num_heads); }
    int64_t head_width() const { return head_dim.value_or(d_out / num_heads); }
    int64_t all_heads() const { return saturated_product(num_heads, head_width()); }
    int64_t rotary_width() const {  // the elements of a head that turn
      return static_cast<int64_t>(rotary_fraction * static_cast<double>(head_width()));
    }
    // The angles of rotary positions, (context_length, rotary_width()), or no array without rope.
    Array angles() const {
      return rope ? rotary_table(context_length, rotary_width(), rope_base, rope_scaling) : Array();
    }
    Signature signature() const {
      return {.width = d_in,
              .longest = context_length,
              .mask = true,
              .causal = causal,
              .cache = causal};
    }
    AttentionOptions options() const {
      return {.num_heads = num_heads,
              .num_kv_heads = kv_heads(),
              .causal = causal,
              .window = window.value_or(0),
              .sinks = sinks,
              .scale = scale,
              .soft_cap = static_cast<real>(soft_cap.value_or(0)),
              .alibi = alibi,
              .normalisation = normalisation_of(attention_weights)};
    }
  };

  // A packed_attention if c.packed is set.
  static std::unique_ptr<Module> make(const Config& c);

  // Throws ConfigError if c.packed is set.
  explicit MultiHeadAttention(const Config& c);

  Signature signature() const override { return config.signature(); }
  std::vector<Tensor> last_matrices() const override { return last_matrix(out_proj); }
  int64_t book_mask_length() const override { return config.causal ? config.context_length : 0; }

  const Config config;
  Child<Linear> W_query, W_key, W_value;
  std::optional<Child<Linear>> out_proj;
  std::optional<Child<Module>> q_norm, k_norm;

 protected:
  Tensor forward(const Input& in) override {
    const Tensor x = with_batch("multi_head_attention", in.x, config.d_in);
    require_context("multi_head_attention", in, config.context_length);
    const int64_t width = config.head_width();
    // queries (B, T, H width); keys and values (B, T, Hkv width)
    const Tensor queries = rotated(normed(q_norm, W_query(x)), angles_, in, width);
    const Tensor keys = rotated(normed(k_norm, W_key(x)), angles_, in, width);
    const Tensor values = W_value(x);
    const Tensor context_vec =
        attend(*this, in, queries, keys, values, config.dropout, config.options());
    return without_batch(out_proj ? (*out_proj)(context_vec) : context_vec, in.x);
  }

 private:
  // x (B, T, heads * head width), each head by the norm if there is one.
  Tensor normed(const std::optional<Child<Module>>& norm, const Tensor& x) const;

  const Array angles_;
};
HEED_LAYER(MultiHeadAttention, "multi_head_attention");

}  // namespace heed
