// Attention of a recurrent decoder to the states of its encoder, for which attention was invented.
//   x (B, T, d_in) states s_t, context (B, S, d_context) states h_j
//     -> context_vec (B, T, d_context)
//   attn_scores_tj = s_t . h_j                            dot       Luong, Pham, Manning 2015
//                  = v . tanh(W_query s_t + W_key h_j)    additive  Bahdanau, Cho, Bengio 2014
//   attn_weights   = softmax over j, where mask (B, S) is 1
//   context_vec_t  = sum_j attn_weights_tj h_j
// Keys and values are the same states, and the scores are not divided by sqrt(d). Luong et al. call
// it global, since it attends to every state of the encoder.
#pragma once

#include <optional>

#include "autograd/ops/matmul.h"
#include "autograd/ops/tanh.h"
#include "layers/linear.h"
#include "layers/module/attend.h"
#include "layers/module/masks.h"

namespace heed {

class GlobalAttention final : public Module {
 public:
  static constexpr const char* help = "attention of recurrent states to those of an encoder";

  struct Config {
    int64_t d_in = 0;
    std::optional<int64_t> d_context = std::nullopt;
    std::string score = "additive";
    void fields(Fields& f) {
      f.required("d_in", d_in, at_least(1), "width of x").example(4);
      f.optional("d_context", d_context, at_least(1), "width of the context", "d_in")
          .shows()
          .also_try({3});
      f.choice("score", score, {"additive", "dot"},
               "additive: a small network over query and key; dot: their product");
    }
    void check(ConfigErrors& errors, const ConfigNode& at) const {
      if (score == "dot" && context_width() != d_in) {
        errors.add_field(at, "d_context", "must be d_in for a dot product: d_in is ", d_in,
                         ", d_context is ", context_width());
      }
    }
    int64_t context_width() const { return d_context.value_or(d_in); }
  };

  explicit GlobalAttention(const Config& c) : config(checked(c)) {
    if (c.score == "additive") {
      W_query.emplace(this, "W_query",
                      Linear::Config{.d_in = c.d_in, .d_out = c.d_in, .bias = false});
      W_key.emplace(this, "W_key",
                    Linear::Config{.d_in = c.context_width(), .d_out = c.d_in, .bias = false});
      v.emplace(this, "v", Linear::Config{.d_in = c.d_in, .d_out = 1, .bias = false});
    }
  }

  Signature signature() const override {
    return {.width = config.d_in,
            .context = true,
            .context_width = config.context_width(),
            .mask = true,
            .causal = true};
  }

  // The two halves of a call, for a decoder whose next query depends on what this one has read.
  // The keys (B, S, d_in) of states (B, S, d_context); for dot products the states themselves.
  Tensor keys(const Tensor& states) const { return W_key ? (*W_key)(states) : states; }
  // attn_weights (B, T, S) of queries x (B, T, d_in).
  Tensor weights(const Tensor& x, const Tensor& keys, const Mask& mask) const {
    return attention_weights(scores(x, keys), mask);
  }

  const Config config;
  std::optional<Child<Linear>> W_query, W_key, v;

 protected:
  Tensor forward(const Input& in) override {
    const Tensor x = with_batch("global_attention", in.x, config.d_in);
    const bool fits = in.context && in.context.rank() == in.x.rank() &&
                      in.context.dim(-1) == config.context_width() &&
                      (in.x.rank() == 2 || in.context.dim(0) == in.x.dim(0));
    require(fits, "global_attention: expected a context (B, S, ",
            config.d_context ? "d_context " : "d_in ", config.context_width(), ") with x ",
            in.x.shape(), ", got ", in.context ? text(in.context.shape()) : "none");
    const Tensor states = with_batch("global_attention", in.context, config.context_width());
    const Tensor attn_weights = weights(x, keys(states), in.mask);  // (B, T, S)
    return without_batch(mix_values(*this, attn_weights, finite_tokens(states, in.mask)), in.x);
  }

 private:
  // attn_scores (B, T, S)
  Tensor scores(const Tensor& x, const Tensor& keys) const {
    if (!v) {
      return matmul(x, keys, Trans::no, Trans::yes);
    }
    const int64_t batch = x.dim(0), queries = x.dim(1), count = keys.dim(1), d = config.d_in;
    const Tensor q = reshape((*W_query)(x), {batch, queries, 1, d});
    const Tensor k = reshape(keys, {batch, 1, count, d});
    return reshape((*v)(tanh(q + k)), {batch, queries, count});
  }
};
HEED_LAYER(GlobalAttention, "global_attention");

}  // namespace heed
