// my_layer: a causal attention head whose output is multiplied by a learned gate per element.
//   x (B, T <= context_length, d_in) -> y (B, T, d_out)
//   y = sigmoid(gate) * softmax(Q K^T / sqrt(d_out)) V
// Change anything you like; the tests report what breaks.
#pragma once

#include <heed/autograd/ops/arithmetic.h>
#include <heed/autograd/ops/sigmoid.h>
#include <heed/layers/layer.h>
#include <heed/layers/linear.h>

namespace mine {

using namespace heed;

class MyLayer final : public Module {
 public:
  // The line that `heed layers` shows.
  static constexpr const char* help = "one causal head behind a gate";

  // The fields of the config. Each is declared once, for reading, checking, documentation and
  // defaults. `heed --plugin build/libmy_layer.so gradcheck my_layer` uses the values of .example()
  // and .also_try().
  struct Config {
    int64_t d_in = 0;
    int64_t d_out = 0;
    int64_t context_length = 0;
    double dropout = 0;
    void fields(Fields& f) {
      f.required("d_in", d_in, at_least(1), "width of x").example(4);
      f.required("d_out", d_out, at_least(1), "width of y").example(3);
      f.required("context_length", context_length, at_least(1), "largest number of tokens")
          .example(6);
      f.optional("dropout", dropout, probability, "chance to drop an attention weight")
          .also_try({0.25});
    }
  };

  // checked() also enforces the fields' ranges for C++ callers. Children and parameters register
  // under their names, and are initialised in this order.
  explicit MyLayer(const Config& c)
      : config(checked(c)),
        W_query(this, "W_query", Linear::Config{c.d_in, c.d_out, false}),
        W_key(this, "W_key", Linear::Config{c.d_in, c.d_out, false}),
        W_value(this, "W_value", Linear::Config{c.d_in, c.d_out, false}),
        gate(this, "gate", {c.d_out}, init::zeros) {}

  // What the layer takes; the tests check this. causal: y at a token depends only on that token and
  // earlier ones. cache: attend() can take keys and values of earlier tokens from a cache, which
  // makes generating text fast.
  Signature signature() const override {
    return {.width = config.d_in,
            .longest = config.context_length,
            .mask = true,
            .causal = true,
            .cache = true};
  }

  const Config config;
  Child<Linear> W_query, W_key, W_value;
  Parameter gate;  // (d_out)

 protected:
  Tensor forward(const Input& in) override {
    const Tensor x = with_batch("my_layer", in.x, config.d_in);  // (B, T, d_in), or throws
    require_context("my_layer", in, config.context_length);
    const Tensor queries = W_query(x), keys = W_key(x), values = W_value(x);  // (B, T, d_out)
    const Tensor context_vec =
        attend(*this, in, queries, keys, values, config.dropout, {.num_heads = 1, .causal = true});
    return without_batch(sigmoid(gate) * context_vec, in.x);  // (T, d_out) for x (T, d_in)
  }
};

}  // namespace mine

// The build finds this line. "my_layer" is the type name in configs.
HEED_LAYER(mine::MyLayer, "my_layer");
