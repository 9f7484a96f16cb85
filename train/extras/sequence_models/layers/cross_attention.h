// Multi-head cross-attention: queries from x, keys and values from a second sequence, the context.
// Vaswani et al. 2017, section 3.2.3. The first decoder to attend to its source: Bahdanau et al.
// 2014.
//   x (B, T, d_in), context (B, S, d_context) -> context_vec (B, T, d_out)
//   or, without a batch: x (T, d_in), context (S, d_context) -> (T, d_out)
//   mask (B, S) over the context, or (B, 1, T, S).   head width d_out / num_heads
// With x itself as the context, this equals multi_head_attention with causal: false. The names of
// the parameters are the same.
#pragma once

#include <optional>

#include "layers/linear.h"
#include "layers/module/attend.h"
#include "layers/module/children.h"

namespace heed {

class CrossAttention final : public Module {
 public:
  static constexpr const char* help = "multi-head attention of x to another sequence, the context";

  struct Config {
    int64_t d_in = 0;
    int64_t d_out = 0;
    int64_t num_heads = 0;
    std::optional<int64_t> d_context;  // none: d_in
    double dropout = 0;
    bool qkv_bias = false;
    bool out_proj = true;
    bool out_bias = true;
    void fields(Fields& f) {
      f.required("d_in", d_in, at_least(1), "width of x").example(4);
      f.required("d_out", d_out, at_least(1), "width of the output, all heads together").example(6);
      f.required("num_heads", num_heads, at_least(1), "number of heads").shows(false).example(2);
      f.optional("d_context", d_context, at_least(1), "width of the context", "d_in")
          .shows()
          .also_try({3});
      f.optional("dropout", dropout, probability, "chance to drop an attention weight")
          .also_try({0.25});
      f.optional("qkv_bias", qkv_bias, "bias in the three projections").shows();
      f.optional("out_proj", out_proj, "a last Linear over all heads").shows();
      f.optional("out_bias", out_bias, "bias in that last Linear").shows().only_with("out_proj");
    }
    void check(ConfigErrors& errors, const ConfigNode& at) const {
      errors.check_divides(at, "num_heads", num_heads, "d_out", d_out);
    }
    int64_t context_width() const { return d_context.value_or(d_in); }
  };

  explicit CrossAttention(const Config& c)
      : config(checked(c)),
        W_query(this, "W_query",
                Linear::Config{.d_in = c.d_in, .d_out = c.d_out, .bias = c.qkv_bias}),
        W_key(this, "W_key",
              Linear::Config{.d_in = c.context_width(), .d_out = c.d_out, .bias = c.qkv_bias}),
        W_value(this, "W_value", W_key->config),
        out_proj(optional_child<Linear>(
            c.out_proj, this, "out_proj",
            Linear::Config{.d_in = c.d_out, .d_out = c.d_out, .bias = c.out_bias})) {}

  Signature signature() const override {
    return {.width = config.d_in,
            .context = true,
            .context_width = config.context_width(),
            .mask = true,
            .causal = true};
  }

  const Config config;
  Child<Linear> W_query, W_key, W_value;
  std::optional<Child<Linear>> out_proj;

 protected:
  Tensor forward(const Input& in) override {
    const Tensor x = with_batch("cross_attention", in.x, config.d_in);
    const Tensor context = context_of(in);
    const Tensor queries = W_query(x);       // (B, T, d_out)
    const Tensor keys = W_key(context);      // (B, S, d_out)
    const Tensor values = W_value(context);  // (B, S, d_out)
    const Tensor context_vec =
        attend(*this, in, queries, keys, values, config.dropout, {.num_heads = config.num_heads});
    return without_batch(out_proj ? (*out_proj)(context_vec) : context_vec, in.x);
  }

 private:
  // (B, S, d_context)
  Tensor context_of(const Input& in) const {
    const Tensor& context = in.context;
    const bool fits = context && context.rank() == in.x.rank() &&
                      context.dim(-1) == config.context_width() &&
                      (in.x.rank() == 2 || context.dim(0) == in.x.dim(0));
    require(fits, "cross_attention: expected a context (B, S, d_context ", config.context_width(),
            ") beside x ", in.x.shape(), ", got ", context ? text(context.shape()) : "none");
    return with_batch("cross_attention", context, config.context_width());
  }
};
HEED_LAYER(CrossAttention, "cross_attention");

}  // namespace heed
