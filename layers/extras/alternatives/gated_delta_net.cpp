#include "layers/extras/alternatives/gated_delta_net.h"

#include <algorithm>
#include <cmath>

#include "autograd/base/elementary.h"
#include "autograd/ops/arithmetic.h"
#include "autograd/ops/concat.h"
#include "autograd/ops/exp.h"
#include "autograd/ops/log_softmax.h"
#include "autograd/ops/permute.h"
#include "autograd/ops/reshape.h"
#include "autograd/ops/sigmoid.h"
#include "autograd/ops/silu.h"
#include "autograd/ops/slice.h"
#include "autograd/ops/sqrt.h"
#include "autograd/ops/sum.h"

namespace heed {

void GatedDeltaNet::Config::fields(Fields& f) {
  f.required("d_in", d_in, at_least(1), "width of x").example(4);
  f.required("d_out", d_out, at_least(1), "width of keys, values and output, all heads together")
      .example(6);
  f.required("num_heads", num_heads, at_least(1), "number of heads").shows(false).example(2);
  f.optional("context_length", context_length, at_least(1), "largest number of tokens", "no limit")
      .shows();
  f.optional("kernel_size", kernel_size, at_least(1), "tokens that a convolution sees")
      .also_try({1});
}

void GatedDeltaNet::Config::check(ConfigErrors& errors, const ConfigNode& at) const {
  errors.check_divides(at, "num_heads", num_heads, "d_out", d_out);
}

namespace {

// Draws U(low, high) and sets each number to value(number).
template <class Value>
Parameter::Init drawn(double low, double high, Value value) {
  return [=](Array& numbers) {
    init::uniform(numbers, low, high);
    for (int64_t i = 0; i < numbers.size() && !dry_run(); ++i) {
      real& x = numbers.mutable_data()[i];
      x = static_cast<real>(value(static_cast<double>(x)));
    }
  };
}

// The inverse of softplus at e^x, which is at least 1e-4.
double bias_of_step(double x) {
  const double step = std::max(fast_exp(x), 1e-4);
  return step + fast_log(1 - fast_exp(-step));
}

// A uniform number can be 0, whose logarithm would make a weight infinite.
double logarithm(double x) { return fast_log(std::max(x, 1e-6)); }

}  // namespace

GatedDeltaNet::GatedDeltaNet(const Config& c)
    : config(checked(c)),
      q_proj(this, "q_proj", Linear::Config{.d_in = c.d_in, .d_out = c.d_out, .bias = false}),
      k_proj(this, "k_proj", q_proj->config),
      v_proj(this, "v_proj", q_proj->config),
      a_proj(this, "a_proj", Linear::Config{.d_in = c.d_in, .d_out = c.num_heads, .bias = false}),
      b_proj(this, "b_proj", a_proj->config),
      A_log(this, "A_log", {c.num_heads}, drawn(0, 16, logarithm)),
      dt_bias(this, "dt_bias", {c.num_heads}, drawn(fast_log(0.001), fast_log(0.1), bias_of_step)),
      q_conv1d(this, "q_conv1d",
               ShortConvolution::Config{.width = c.d_out, .kernel_size = c.kernel_size}),
      k_conv1d(this, "k_conv1d", q_conv1d->config),
      v_conv1d(this, "v_conv1d", q_conv1d->config),
      g_proj(this, "g_proj", q_proj->config),
      o_norm(this, "o_norm", RmsNorm::Config{.d_model = c.head_width()}),
      o_proj(this, "o_proj", Linear::Config{.d_in = c.d_out, .d_out = c.d_out, .bias = false}) {}

Tensor ShortConvolution::forward(const Input& in) {
  const Tensor& x = in.x;
  const int64_t batch = x.dim(0), tokens = x.dim(1), width = config.width;
  const int64_t kernel = config.kernel_size;
  State* const kept = in.cache != nullptr ? &in.cache->state_of<State>(*this) : nullptr;
  const bool is_first = kept == nullptr || !kept->last;
  const Array before = is_first ? Array::zeros({batch, kernel - 1, width}) : kept->last;
  const Tensor rows = concat({Tensor(before), x}, 1);  // (B, K - 1 + T, d)
  if (kept != nullptr) kept->last = slice(rows, 1, tokens, tokens + kernel - 1).value();
  const Tensor taps = permute(reshape(weight, {width, kernel}), {1, 0});  // (K, d)
  Tensor y;
  for (int64_t j = 0; j < kernel; ++j) {
    const Tensor term = slice(rows, 1, j, j + tokens) * slice(taps, 0, j, j + 1);
    y = y ? y + term : term;
  }
  return silu(y);
}

namespace {

// x (B, T, H d) with every head divided by its length and multiplied by `scale`.
Tensor with_unit_heads(const Tensor& x, int64_t heads, real scale) {
  const Tensor split = reshape(x, {x.dim(0), x.dim(1), heads, x.dim(2) / heads});
  const Tensor squares = sum(split * split, -1, /*keepdim=*/true);
  return reshape(split * (scale / sqrt(squares + real(1e-6))), x.shape());
}

// ln alpha = -exp(A_log) softplus(a), a (B, T, H): -softplus(a) is the log-softmax of 0 among 0 and
// a, which stays exact where e^a is too large for a number.
Tensor log_kept_share(const Tensor& a, const Tensor& A_log) {
  const Shape one = a.shape().inserted(a.rank(), 1);
  const Tensor pair = concat({Tensor(Array::zeros(one)), reshape(a, one)}, -1);
  const Tensor minus_softplus = reshape(slice(log_softmax(pair), -1, 0, 1), a.shape());
  return exp(A_log) * minus_softplus;
}

}  // namespace

Tensor GatedDeltaNet::forward(const Input& in) {
  const Tensor x = with_batch("gated_delta_net", in.x, config.d_in);
  require(x.dim(1) >= 1, "gated_delta_net: expected at least one token, got x ", in.x.shape());
  if (config.context_length) require_context("gated_delta_net", in, *config.context_length);
  const int64_t heads = config.num_heads, width = config.head_width();
  const auto scale = static_cast<real>(1 / std::sqrt(static_cast<double>(width)));
  const GatedDelta parts{.queries = with_unit_heads(q_conv1d(in.with(q_proj(x))), heads, scale),
                         .keys = with_unit_heads(k_conv1d(in.with(k_proj(x))), heads, 1),
                         .values = v_conv1d(in.with(v_proj(x))),
                         .log_alpha = log_kept_share(a_proj(x) + Tensor(dt_bias), A_log),
                         .beta = sigmoid(b_proj(x))};
  Array* const memory = in.cache != nullptr ? &in.cache->state_of<State>(*this).memory : nullptr;
  const Tensor o = gated_delta_rule(parts, memory);
  const Shape by_head{x.dim(0), x.dim(1), heads, width};
  const Tensor normed = o_norm(reshape(o, by_head)) * silu(reshape(g_proj(x), by_head));
  return without_batch(o_proj(reshape(normed, o.shape())), in.x);
}

}  // namespace heed
