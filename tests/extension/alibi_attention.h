// Attention with linear biases: what is farther away counts less, and no positions are needed.
// Press, Smith and Lewis 2022, "Train Short, Test Long".
//   head h: attn_scores_ts = q_t . k_s / sqrt(d) - m_h (t - s) for s <= t,  m_h = 2^(-8 (h+1) / H)
#pragma once

#include <heed/autograd/ops/arithmetic.h>
#include <heed/autograd/ops/concat.h>
#include <heed/autograd/ops/matmul.h>
#include <heed/autograd/ops/split.h>
#include <heed/layers/layer.h>
#include <heed/layers/linear.h>

#include <cmath>
#include <limits>

namespace extension {

using namespace heed;

class AlibiAttention final : public Module {
 public:
  static constexpr const char* help = "causal attention whose scores fall with the distance";

  struct Config {
    int64_t d_in = 0;
    int64_t d_out = 0;
    int64_t num_heads = 1;
    double dropout = 0;
    void fields(Fields& f) {
      f.required("d_in", d_in, at_least(1), "width of x").example(4);
      f.required("d_out", d_out, at_least(1), "width of y, all heads together").example(6);
      f.required("num_heads", num_heads, at_least(1), "number of heads").example(2);
      f.optional("dropout", dropout, probability, "chance to drop a weight").also_try({0.25});
    }
    void check(ConfigErrors& errors, const ConfigNode& at) const {
      if (d_out % num_heads != 0) {
        errors.add_field(at, "num_heads", "must divide d_out ", d_out, ", got ", num_heads);
      }
    }
  };

  explicit AlibiAttention(const Config& c)
      : config(checked(c)),
        W_query(this, "W_query", Linear::Config{c.d_in, c.d_out, false}),
        W_key(this, "W_key", Linear::Config{c.d_in, c.d_out, false}),
        W_value(this, "W_value", Linear::Config{c.d_in, c.d_out, false}),
        out_proj(this, "out_proj", Linear::Config{c.d_out, c.d_out}) {}

  Signature signature() const override {
    return {.width = config.d_in, .mask = true, .causal = true};
  }

  const Config config;
  Child<Linear> W_query, W_key, W_value, out_proj;

 protected:
  Tensor forward(const Input& in) override {
    const Tensor x = with_batch("alibi_attention", in.x, config.d_in);  // (B, T, d_in)
    const int64_t width = config.d_out / config.num_heads;
    const auto q = split(W_query(x), width, -1), k = split(W_key(x), width, -1),
               v = split(W_value(x), width, -1);  // a head each: (B, T, width)
    const auto scale = static_cast<real>(1 / std::sqrt(static_cast<double>(width)));
    std::vector<Tensor> heads;
    for (size_t h = 0; h < q.size(); ++h) {
      const Tensor scores = scale * matmul(q[h], k[h], Trans::no, Trans::yes);  // (B, T, T)
      const Tensor attn_weights = attention_weights(scores + bias(h, x.dim(1)), in.mask);
      heads.push_back(mix_values(*this, attn_weights, v[h], config.dropout));
    }
    return without_batch(out_proj(concat(heads, -1)), in.x);
  }

 private:
  // (T, T): -m_h (t - s), and -infinity for what comes after.
  Tensor bias(size_t h, int64_t tokens) const {
    const double slope = std::exp2(-8.0 * static_cast<double>(h + 1) / double(config.num_heads));
    Array values = Array::uninitialised({tokens, tokens});
    for (int64_t i = 0; i < values.size() && !dry_run(); ++i) {
      const int64_t distance = i / tokens - i % tokens;
      values.mutable_data()[i] = distance < 0 ? -std::numeric_limits<real>::infinity()
                                              : static_cast<real>(-slope * double(distance));
    }
    return Tensor(std::move(values));
  }
};

}  // namespace extension

HEED_LAYER(extension::AlibiAttention, "alibi_attention");
