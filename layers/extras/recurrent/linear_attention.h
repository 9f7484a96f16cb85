// Causal linear attention: the weight of a key is a product of features instead of an exponential,
// so that sums of fixed size replace all earlier keys and values. Katharopoulos et al. 2020,
// "Transformers are RNNs"; scan/linearized_attention.h has the equations.
//   x (B, T, d_in) -> context_vec (B, T, d_out);   head width d_out / num_heads
//   weights of key s for query t: phi(q_t) . phi(k_s) for s <= t, divided by their sum;
//   phi(x) = elu(x) + 1
// Parameters are those of multi_head_attention, and so are their initial values. Scores are not
// scaled: a factor would not cancel inside phi, and the paper has none. There are no weights of a
// softmax to drop or to draw a map of.
//
// While text is generated, a head keeps its sums, (d + 1, d) numbers, for any number of tokens:
// time and memory are linear in T. Training computes all weights of a sequence at once, in memory
// quadratic in T. The layer does not know positions: what it gives for a token does not depend on
// the order of the tokens before. A mask (B, T) hides keys, a mask (B, 1, T, T) pairs.
#pragma once

#include <optional>

#include "layers/extras/recurrent/scan/linearized_attention.h"
#include "layers/linear.h"
#include "layers/module/cache.h"
#include "layers/module/children.h"
#include "layers/module/masks.h"

namespace heed {

class LinearAttention final : public Module {
 public:
  static constexpr const char* help = "causal attention without a softmax, by sums of a fixed size";

  struct Config {
    int64_t d_in = 0;
    int64_t d_out = 0;
    int64_t num_heads = 0;
    std::optional<int64_t> context_length = std::nullopt;
    bool qkv_bias = false;
    bool out_proj = true;
    bool out_bias = true;
    void fields(Fields& f) {
      f.required("d_in", d_in, at_least(1), "width of x").example(4);
      f.required("d_out", d_out, at_least(1), "width of the output, all heads together").example(8);
      f.required("num_heads", num_heads, at_least(1), "number of heads").shows(false).example(2);
      f.optional("context_length", context_length, at_least(1), "largest number of tokens",
                 "no limit")
          .shows();
      f.optional("qkv_bias", qkv_bias, "bias in the three projections").shows();
      f.optional("out_proj", out_proj, "a last Linear over all heads").shows();
      f.optional("out_bias", out_bias, "bias in that last Linear").shows().only_with("out_proj");
    }
    void check(ConfigErrors& errors, const ConfigNode& at) const {
      errors.check_divides(at, "num_heads", num_heads, "d_out", d_out);
    }
  };

  explicit LinearAttention(const Config& c)
      : config(checked(c)),
        W_query(this, "W_query",
                Linear::Config{.d_in = c.d_in, .d_out = c.d_out, .bias = c.qkv_bias}),
        W_key(this, "W_key", W_query->config),
        W_value(this, "W_value", W_query->config),
        out_proj(optional_child<Linear>(
            c.out_proj, this, "out_proj",
            Linear::Config{.d_in = c.d_out, .d_out = c.d_out, .bias = c.out_bias})) {}

  Signature signature() const override {
    return {.width = config.d_in,
            .longest = config.context_length,
            .mask = true,
            .causal = true,
            .cache = true};
  }
  std::vector<Tensor> last_matrices() const override { return last_matrix(out_proj); }

  const Config config;
  Child<Linear> W_query, W_key, W_value;
  std::optional<Child<Linear>> out_proj;

 protected:
  Tensor forward(const Input& in) override {
    const Tensor x = with_batch("linear_attention", in.x, config.d_in);
    if (config.context_length) require_context("linear_attention", in, *config.context_length);
    const Tensor queries = W_query(x), keys = W_key(x);  // (B, T, d_out)
    const Tensor values = finite_tokens(W_value(x), in.mask);
    const Tensor context_vec =
        in.cache == nullptr ? linearized_attention(queries, keys, values, config.num_heads, in.mask)
                            : linearized_attention(queries, keys, values, config.num_heads, {},
                                                   &in.cache->state_of<State>(*this).sums);
    return without_batch(out_proj ? (*out_proj)(context_vec) : context_vec, in.x);
  }

 private:
  struct State {
    Array sums;  // (B, H, d + 1, d)
  };
};
HEED_LAYER(LinearAttention, "linear_attention");

}  // namespace heed
