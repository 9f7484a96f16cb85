#include "layers/extras/recurrent/rwkv_time_mixing.h"

#include <algorithm>
#include <cmath>

#include "autograd/base/elementary.h"
#include "autograd/ops/arithmetic.h"
#include "autograd/ops/concat.h"
#include "autograd/ops/sigmoid.h"
#include "autograd/ops/slice.h"

namespace heed {

namespace {

// Sets number i of d to value(i, d).
template <class Value>
Parameter::Init each(Value value) {
  return [value](Array& numbers) {
    const int64_t d = numbers.size();
    for (int64_t i = 0; i < d && !dry_run(); ++i) {
      numbers.mutable_data()[i] =
          static_cast<real>(value(static_cast<double>(i), static_cast<double>(d)));
    }
  };
}

double initial_decay(double i, double d) {
  return -5 + 8 * fast_exp(0.7 * fast_log(i / std::max(d - 1, 1.0)));
}
double initial_first(double i, double) { return fast_log(0.3) + 0.5 * (std::fmod(i + 1, 3) - 1); }
double initial_mix(double i, double d) { return i / d; }
double initial_gate_mix(double i, double d) { return std::sqrt(i / d); }

}  // namespace

RwkvTimeMixing::RwkvTimeMixing(const Config& c)
    : config(checked(c)),
      time_decay(this, "time_decay", {c.d_out}, each(initial_decay)),
      time_first(this, "time_first", {c.d_out}, each(initial_first)),
      time_mix_k(this, "time_mix_k", {1, 1, c.d_in}, each(initial_mix)),
      time_mix_v(this, "time_mix_v", {1, 1, c.d_in}, each(initial_mix)),
      time_mix_r(this, "time_mix_r", {1, 1, c.d_in}, each(initial_gate_mix)),
      key(this, "key", Linear::Config{.d_in = c.d_in, .d_out = c.d_out, .bias = false}),
      value(this, "value", key->config),
      receptance(this, "receptance", key->config),
      output(this, "output", Linear::Config{.d_in = c.d_out, .d_out = c.d_out, .bias = false}) {}

Tensor RwkvTimeMixing::forward(const Input& in) {
  const Tensor x = with_batch("rwkv_time_mixing", in.x, config.d_in);
  require(x.dim(1) >= 1, "rwkv_time_mixing: expected at least one token, got x ", in.x.shape());
  if (config.context_length) require_context("rwkv_time_mixing", in, *config.context_length);
  State* const earlier = in.cache == nullptr ? nullptr : &in.cache->state_of<State>(*this);
  const bool is_first = earlier == nullptr || !earlier->x;
  const Tensor last(is_first ? Array::zeros(x.shape().with(1, 1)) : earlier->x);
  const Tensor before = concat({last, slice(x, 1, 0, x.dim(1) - 1)}, 1), step = x - before;
  const auto shifted = [&](const Tensor& mu) { return before + mu * step; };
  const Tensor k = key(shifted(time_mix_k)), v = value(shifted(time_mix_v));  // (B, T, d_out)
  const Tensor r = receptance(shifted(time_mix_r));
  const Tensor mean =
      wkv(k, v, time_decay, time_first, earlier != nullptr ? &earlier->sums : nullptr);
  if (earlier != nullptr) earlier->x = slice(x, 1, x.dim(1) - 1, x.dim(1)).value();
  return without_batch(output(sigmoid(r) * mean), in.x);
}

}  // namespace heed
