// A convolution over the tokens of a sequence: what a token sees is a window of fixed width around
// it, with weights of its own for each distance. Networks of these translated before attention did
// (Kalchbrenner and Blunsom 2013) and beside it (Gehring et al. 2017).
//   x (B, T, d_in) -> y (B, T, d_out);   K = kernel_size
//   y_t = sum_k weight[:, :, k] x_(t + k - K + 1) + bias          causal: the K - 1 tokens before
//   y_t = sum_k weight[:, :, k] x_(t + k - (K - 1) / 2) + bias    not causal: both sides alike
//   x is 0 before the first token, after the last, and where a mask (B, T) or (B, 1, T, T) hides it
// Parameters and their initial values are those of torch.nn.Conv1d: weight (d_out, d_in, K), bias
// (d_out), both U(-1/sqrt(d_in K), 1/sqrt(d_in K)). There x is (B, d_in, T), and a causal one is
// padded by K - 1 on the left. While text is generated, the layer keeps K - 1 tokens.
#pragma once

#include "autograd/ops/concat.h"
#include "autograd/ops/masked_fill.h"
#include "autograd/ops/permute.h"
#include "autograd/ops/reshape.h"
#include "autograd/ops/slice.h"
#include "layers/linear.h"
#include "layers/module/cache.h"
#include "layers/module/masks.h"

namespace heed {

class Conv1d final : public Module {
 public:
  static constexpr const char* help = "a convolution over the tokens, as torch.nn.Conv1d";

  struct Config {
    int64_t d_in = 0;
    int64_t d_out = 0;
    int64_t kernel_size = 3;
    bool causal = true;
    bool bias = true;
    void fields(Fields& f) {
      f.required("d_in", d_in, at_least(1), "width of x").example(4);
      f.required("d_out", d_out, at_least(1), "width of y").example(3);
      f.optional("kernel_size", kernel_size, at_least(1), "number of tokens that one sees");
      f.optional("causal", causal, "a token sees none after it; otherwise as many as before it");
      f.optional("bias", bias, "add a vector").shows();
    }
    void check(ConfigErrors& errors, const ConfigNode& at) const {
      if (!causal && kernel_size % 2 == 0) {
        errors.add_field(at, "kernel_size", "must be odd unless causal: both sides of a token get ",
                         "as many, got ", kernel_size);
      }
    }
  };

  explicit Conv1d(const Config& c)
      : config(checked(c)),
        weight(this, "weight", {c.d_out, c.d_in, c.kernel_size}, init::linear_weight),
        bias(
            this, "bias", {c.d_out},
            [&c](Array& values) { init::linear_bias(values, c.d_in * c.kernel_size); }, c.bias) {}

  Signature signature() const override {
    return {.width = config.d_in, .mask = true, .causal = config.causal, .cache = config.causal};
  }
  void draw_as_gpt2() override {
    Module::draw_as_gpt2();
    init::clear(bias);
  }

  const Config config;
  Parameter weight;  // (d_out, d_in, K)
  Parameter bias;    // (d_out), or empty

 protected:
  Tensor forward(const Input& in) override {
    const Tensor x = with_batch("conv1d", in.x, config.d_in);
    if (in.cache == nullptr) {
      return without_batch(run(x, in.mask), in.x);
    }
    require(config.causal, "conv1d: expected a causal layer with a cache");
    Tensor& earlier = in.cache->state_of<State>(*this).earlier;
    const Tensor all = concat({earlier ? earlier : padding(x, config.kernel_size - 1), x}, 1);
    earlier = slice(all, 1, x.dim(1), all.dim(1));
    return without_batch(windows(all, x.dim(1)), in.x);
  }

 private:
  struct State {
    Tensor earlier;  // (B, K - 1, d_in), the last tokens; none before the first
  };

  static Tensor padding(const Tensor& x, int64_t tokens) {
    return Tensor(Array::zeros({x.dim(0), tokens, x.dim(2)}));
  }

  Tensor run(const Tensor& x, const Mask& mask) const {
    const int64_t around = config.kernel_size - 1, after = config.causal ? 0 : around / 2;
    if (mask) require_mask(mask, x.dim(0), x.dim(1), x.dim(1));
    const Tensor seen = mask.rank() == 2 ? masked_tokens(x, mask) : x;
    const Tensor padded = concat({padding(x, around - after), seen, padding(x, after)}, 1);
    return windows(padded, x.dim(1), mask.rank() == 4 ? mask : Mask());
  }
  // padded (B, T + K - 1, d_in) -> y (B, T, d_out): the windows side by side, times one matrix.
  Tensor windows(const Tensor& padded, int64_t tokens, const Mask& pairs = {}) const {
    std::vector<Tensor> shifted;
    for (int64_t k = 0; k < config.kernel_size; ++k) {
      const Tensor each = slice(padded, 1, k, k + tokens);
      shifted.push_back(pairs ? masked_fill(each, hidden(pairs, padded.dim(0), k), 0) : each);
    }
    const Tensor matrix = reshape(permute(weight, {0, 2, 1}),  // (d_out, K d_in)
                                  {config.d_out, config.kernel_size * config.d_in});
    return linear(concat(shifted, -1), matrix, bias);
  }
  // (B, T, 1): 1 where a token may not see token k of its window.
  Mask hidden(const Mask& pairs, int64_t batch, int64_t k) const {
    const int64_t tokens = pairs.dim(2), around = config.kernel_size - 1;
    const int64_t first = k - (config.causal ? around : around / 2);
    Mask hidden = Mask::zeros({batch, tokens, 1});
    for (int64_t i = 0; i < hidden.size() && !dry_run(); ++i) {
      const int64_t row = pairs.dim(0) == 1 ? i % tokens : i, s = i % tokens + first;
      const bool inside = s >= 0 && s < tokens;
      hidden.mutable_data()[i] = inside && pairs.data()[row * tokens + s] == 0;
    }
    return hidden;
  }
};
HEED_LAYER(Conv1d, "conv1d");

}  // namespace heed
