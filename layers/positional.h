// Adds a vector to each token by its position: y[..., t, :] = x[..., t, :] + p[t, :].
//   x (..., T <= context_length, d_model) -> y of the same shape
//   learned      p = weight (context_length, d_model), initialised from N(0, 1)
//   sinusoidal   p[t, 2i]     = sin(t / 10000^(2i / d_model))
//                p[t, 2i + 1] = cos(t / 10000^(2i / d_model))
//                No parameters. Vaswani et al. 2017, section 3.5.
#pragma once

#include "autograd/base/elementary.h"
#include "autograd/ops/arithmetic.h"
#include "autograd/ops/slice.h"
#include "layers/module/init.h"
#include "layers/module/input.h"
#include "layers/module/registry.h"

namespace heed {

class Positional final : public Module {
 public:
  static constexpr const char* help = "adds a vector for each position";

  struct Config {
    int64_t context_length = 0;
    int64_t d_model = 0;
    std::string position = "learned";
    void fields(Fields& f) {
      f.required("context_length", context_length, at_least(1), "largest number of tokens")
          .example(6);
      f.required("d_model", d_model, at_least(1), "width of x").example(4);
      f.choice("position", position, {"learned", "sinusoidal"}, "where the vectors come from");
    }
  };

  explicit Positional(const Config& c)
      : config(checked(c)),
        weight(this, "weight", {c.context_length, c.d_model}, init::embedding,
               c.position == "learned"),
        sinusoids_(weight ? Array() : sinusoids(c.context_length, c.d_model)) {}

  Signature signature() const override {
    return {.width = config.d_model,
            .longest = config.context_length,
            .causal = true,
            .cache = true,
            .cache_batch = true};
  }

  const Config config;
  Parameter weight;  // (context_length, d_model), or empty

 protected:
  Tensor forward(const Input& in) override {
    const Tensor& x = in.x;
    require(x.rank() >= 2 && x.dim(-1) == config.d_model,
            "positional: expected x (..., T, d_model ", config.d_model, "), got ", x.shape());
    require_context("positional", in, config.context_length);
    const Tensor table = weight ? Tensor(weight) : Tensor(sinusoids_);
    return x + slice(table, 0, in.past(), in.past() + x.dim(-2));  // (..., T, d) + (T, d)
  }

 private:
  static Array sinusoids(int64_t positions, int64_t width) {
    Array table = Array::zeros({positions, width});
    for (int64_t i = 0; i < table.size() && !dry_run(); ++i) {
      const int64_t t = i / width, column = i % width;
      const auto even = static_cast<double>(column - column % 2);
      const double angle =
          static_cast<double>(t) * fast_exp(-fast_log(10000.0) * even / static_cast<double>(width));
      const Circle at = circle_at(angle);
      table.mutable_data()[i] = static_cast<real>(column % 2 == 0 ? at.sine : at.cosine);
    }
    return table;
  }

  const Array sinusoids_;
};
HEED_LAYER(Positional, "positional");

}  // namespace heed
