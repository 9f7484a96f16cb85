// Attention of a recurrent decoder to the states of its encoder, for which attention was invented.
//   x (B, T, d_in) states s_t, context (B, S, d_in) states h_j -> context_vec (B, T, d_in)
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

namespace heed {

class GlobalAttention final : public Module {
 public:
  static constexpr const char* help = "attention of recurrent states to those of an encoder";

  struct Config {
    int64_t d_in = 0;
    std::string score = "additive";
    void fields(Fields& f) {
      f.required("d_in", d_in, at_least(1), "width of x and of the context").example(4);
      f.choice("score", score, {"additive", "dot"},
               "additive: a small network over query and key; dot: their product");
    }
  };

  explicit GlobalAttention(const Config& c) : config(checked(c)) {
    if (c.score == "additive") {
      const Linear::Config square{.d_in = c.d_in, .d_out = c.d_in, .bias = false};
      W_query.emplace(this, "W_query", square);
      W_key.emplace(this, "W_key", square);
      v.emplace(this, "v", Linear::Config{.d_in = c.d_in, .d_out = 1, .bias = false});
    }
  }

  Signature signature() const override {
    return {.width = config.d_in, .context = true, .mask = true, .causal = true};
  }

  const Config config;
  std::optional<Child<Linear>> W_query, W_key, v;

 protected:
  Tensor forward(const Input& in) override {
    const Tensor x = with_batch("global_attention", in.x, config.d_in);
    const bool fits = in.context && in.context.rank() == in.x.rank() &&
                      in.context.dim(-1) == config.d_in &&
                      (in.x.rank() == 2 || in.context.dim(0) == in.x.dim(0));
    require(fits, "global_attention: expected a context (B, S, d_in ", config.d_in, ") with x ",
            in.x.shape(), ", got ", in.context ? text(in.context.shape()) : "none");
    const Tensor states = with_batch("global_attention", in.context, config.d_in);
    const Tensor attn_weights = attention_weights(scores(x, states), in.mask);  // (B, T, S)
    return without_batch(mix_values(*this, attn_weights, states), in.x);
  }

 private:
  // attn_scores (B, T, S)
  Tensor scores(const Tensor& x, const Tensor& states) const {
    if (!v) {
      return matmul(x, states, Trans::no, Trans::yes);
    }
    const int64_t batch = x.dim(0), queries = x.dim(1), keys = states.dim(1), d = config.d_in;
    const Tensor q = reshape((*W_query)(x), {batch, queries, 1, d});
    const Tensor k = reshape((*W_key)(states), {batch, 1, keys, d});
    return reshape((*v)(tanh(q + k)), {batch, queries, keys});
  }
};
HEED_LAYER(GlobalAttention, "global_attention");

}  // namespace heed
