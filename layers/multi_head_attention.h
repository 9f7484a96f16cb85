// Multi-head attention with weight splits: one projection for all heads, split into num_heads.
// The book, section 3.6.2; Vaswani et al. 2017, section 3.2.2.
//   x (B, T <= context_length, d_in) -> context_vec (B, T, d_out);   head width d_out / num_heads
// num_kv_heads: grouped-query attention (Ainslie et al. 2023, arXiv:2305.13245). Every
// num_heads / num_kv_heads query heads share one key and one value head, so W_key and W_value are
// narrower.
// rope: queries and keys are rotated by their positions (autograd/ops/rotary.h).
// packed: the parameters and initialisation of torch.nn.MultiheadAttention, in_proj_weight
// (3 d_out, d_in) and in_proj_bias (3 d_out). out_proj is drawn first, then in_proj_weight by
// xavier_uniform_. All biases are initially 0.
#pragma once

#include <optional>

#include "autograd/array/shape.h"
#include "autograd/ops/linear.h"
#include "autograd/ops/rotary.h"
#include "autograd/ops/split.h"
#include "layers/linear.h"
#include "layers/module/attend.h"

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
    bool rope = false;
    double rope_base = 10000;
    void fields(Fields& f) {
      f.required("d_in", d_in, at_least(1), "width of x").example(4);
      f.required("d_out", d_out, at_least(1), "width of the output, all heads together").example(8);
      f.required("context_length", context_length, at_least(1), "largest number of tokens")
          .example(6);
      f.required("num_heads", num_heads, at_least(1), "number of heads").example(2);
      f.optional("dropout", dropout, probability, "chance to drop an attention weight")
          .also_try({0.25});
      f.optional("qkv_bias", qkv_bias, "bias in the three projections");
      f.optional("out_proj", out_proj, "a last Linear over all heads");
      f.optional("out_bias", out_bias, "bias in that last Linear");
      f.optional("causal", causal, "hide the tokens that come after");
      f.optional("packed", packed, "one in_proj_weight, as torch.nn.MultiheadAttention");
      f.optional("num_kv_heads", num_kv_heads, at_least(1), "heads of keys and values", "all")
          .also_try({1});
      f.optional("rope", rope, "turn queries and keys by their positions");
      f.optional("rope_base", rope_base, above(0), "the slowest turn is about 1 / rope_base");
    }
    void check(ConfigErrors& errors, const ConfigNode& at) const {
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
        errors.add_field(at, "rope", "needs an even head width, d_out / num_heads is ",
                         head_width());
      }
    }
    int64_t kv_heads() const { return num_kv_heads.value_or(num_heads); }
    int64_t head_width() const { return d_out / num_heads; }
  };

  explicit MultiHeadAttention(const Config& c)
      : config(checked(c)),
        angles_(c.rope ? rotary_table(c.context_length, c.head_width(), c.rope_base) : Array()) {
    const auto output = [&] {
      if (c.out_proj)
        out_proj.emplace(this, "out_proj", Linear::Config{c.d_out, c.d_out, c.out_bias});
    };
    if (!c.packed) {
      const Linear::Config projection{c.d_in, c.d_out, c.qkv_bias};
      const Linear::Config shared{c.d_in, c.kv_heads() * c.head_width(), c.qkv_bias};
      W_query.emplace(this, "W_query", projection);
      W_key.emplace(this, "W_key", shared);
      W_value.emplace(this, "W_value", shared);
      output();
      return;
    }
    output();
    in_proj_weight.emplace(this, "in_proj_weight", Shape{saturated_product(3, c.d_out), c.d_in},
                           init::xavier_uniform);
    in_proj_bias.emplace(this, "in_proj_bias", Shape{saturated_product(3, c.d_out)}, init::zeros,
                         c.qkv_bias);
    if (c.out_proj && c.out_bias) {
      const NoGrad off;
      std::fill_n((*out_proj)->bias.tensor().mutable_value(), dry_run() ? 0 : c.d_out, real{0});
    }
  }

  bool causal() const override { return config.causal; }
  bool takes_cache() const override { return config.causal; }

  const Config config;
  std::optional<Child<Linear>> W_query, W_key, W_value;   // unless packed
  std::optional<Parameter> in_proj_weight, in_proj_bias;  // if packed
  std::optional<Child<Linear>> out_proj;

 protected:
  Tensor forward(const Input& in) override {
    const Tensor x = with_batch("multi_head_attention", in.x, config.d_in);
    require_context("multi_head_attention", in, config.context_length);
    const Tensor context_vec = context(in, x);
    return without_batch(out_proj ? (*out_proj)(context_vec) : context_vec, in.x);
  }

 private:
  Tensor context(const Input& in, const Tensor& x) const {
    const AttentionOptions options{
        .num_heads = config.num_heads, .num_kv_heads = config.kv_heads(), .causal = config.causal};
    if (config.packed && !angles_ && in.cache == nullptr) {
      return attend(*this, in, project_packed(x), config.dropout, options);
    }
    auto [queries, keys, values] = project(x);  // (B, T, d_out); keys, values (B, T, Hkv d)
    if (angles_) {
      queries = rotary(queries, angles_, in.past());
      keys = rotary(keys, angles_, in.past());
    }
    return attend(*this, in, queries, keys, values, config.dropout, options);
  }

  Tensor project_packed(const Tensor& x) const {  // (B, T, 3 d_out)
    return linear(x, *in_proj_weight, *in_proj_bias);
  }

  std::array<Tensor, 3> project(const Tensor& x) const {
    if (!config.packed) {
      return {(*W_query)(x), (*W_key)(x), (*W_value)(x)};
    }
    const std::vector<Tensor> parts = split(project_packed(x), config.d_out, -1);
    return {parts[0], parts[1], parts[2]};
  }

  const Array angles_;  // (context_length, head width), or empty
};
HEED_LAYER(MultiHeadAttention, "multi_head_attention");

}  // namespace heed
