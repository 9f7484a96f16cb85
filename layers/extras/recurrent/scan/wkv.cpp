#include "layers/extras/recurrent/scan/wkv.h"

#include <vector>

#include "autograd/kernels/row_math.h"
#include "autograd/ops/arithmetic.h"
#include "autograd/ops/concat.h"
#include "autograd/ops/exp.h"
#include "autograd/ops/reshape.h"
#include "autograd/ops/slice.h"
#include "autograd/ops/where.h"

namespace heed {

namespace {

// e^80 is already the loss of everything within one token, and e^89 is too large for float32.
constexpr real largest_decay = 80;

void check_wkv(const Shape& keys, const Shape& values, const Shape& decay, const Shape& first) {
  require(keys.rank() == 3 && values == keys && decay == Shape{keys[2]} && first == decay,
          "wkv: expected keys and values (B, T, d), time_decay and time_first (d), got ", keys,
          ", ", values, ", ", decay, " and ", first);
}

// As std::max, but by value: a choice between addresses would keep a loop from being vectorised.
real larger(real a, real b) { return a > b ? a : b; }

// w (d) = -e^time_decay
Tensor decay_of(const Tensor& time_decay) {
  const Mask fits = map<uint8_t>(time_decay.value(), [](real x) { return !(x > largest_decay); });
  return -exp(where(fits, time_decay, largest_decay));
}

// The state before the first token: nothing, with weight 0.
Array no_state(int64_t batch, int64_t width) {
  const Tensor zeros(Array::zeros({batch, 2, width}));
  const Tensor lowest(Array::full({batch, 1, width}, minus_infinity));
  return concat({zeros, lowest}, 1).value();
}

// p before each token and after the last (B, T + 1, d), from p before the first (B, 1, d).
Array largest_weights(const Array& first, const Array& keys, const Array& w) {
  const int64_t tokens = keys.dim(1), width = keys.dim(2);
  Array p = Array::uninitialised(keys.shape().with(1, tokens + 1));
  parallel_each(keys.dim(0), 1,
                [=, from = first.data(), k = keys.data(), decay = w.data(),
                 to = p.mutable_data()](int64_t b) {
                  real* row = to + b * (tokens + 1) * width;
                  std::copy_n(from + b * width, width, row);
                  for (int64_t t = 0; t < tokens; ++t, row += width) {
                    const real* const key = k + (b * tokens + t) * width;
#pragma omp simd
                    for (int64_t i = 0; i < width; ++i) {
                      row[width + i] = larger(row[i] + decay[i], key[i]);
                    }
                  }
                });
  return p;
}

// c_t = factor_t c_(t-1) + added_t: c before each token and after the last (B, T + 1, n), from c
// before the first (B, 1, n).
Tensor scan(Tensor sums, const Tensor& factor, const Tensor& added) {
  std::vector<Tensor> rows{sums};
  for (int64_t t = 0; t < factor.dim(1); ++t) {
    sums = slice(factor, 1, t, t + 1) * sums + slice(added, 1, t, t + 1);
    rows.push_back(sums);
  }
  return concat(rows, 1);
}

}  // namespace

Tensor wkv(const Tensor& keys, const Tensor& values, const Tensor& time_decay,
           const Tensor& time_first, Array* state) {
  check_wkv(keys.shape(), values.shape(), time_decay.shape(), time_first.shape());
  const int64_t batch = keys.dim(0), tokens = keys.dim(1), width = keys.dim(2);
  const Tensor first(state != nullptr && *state ? *state : no_state(batch, width));
  require(first.shape() == Shape{batch, 3, width}, "wkv: expected a state ", Shape{batch, 3, width},
          ", got ", first.shape());
  const Tensor w = decay_of(time_decay), own = keys + time_first;
  const Tensor p(largest_weights(slice(first, 1, 2, 3).value(), keys.value(), w.value()));
  const Tensor before = slice(p, 1, 0, tokens), after = slice(p, 1, 1, tokens + 1);
  const Tensor top(zip("wkv", before.value(), own.value(), larger));
  const Tensor kept = exp(before + w - after), added = exp(keys - after);
  const Tensor sums = scan(reshape(slice(first, 1, 0, 2), {batch, 1, 2 * width}),
                           concat({kept, kept}, 2), concat({added * values, added}, 2));
  const Tensor a = slice(slice(sums, 1, 0, tokens), 2, 0, width);
  const Tensor b = slice(slice(sums, 1, 0, tokens), 2, width, 2 * width);
  if (state != nullptr) {
    const Tensor last = reshape(slice(sums, 1, tokens, tokens + 1), {batch, 2, width});
    *state = concat({last, slice(p, 1, tokens, tokens + 1)}, 1).value();
  }
  const Tensor past = exp(before - top), now = exp(own - top);
  return (past * a + now * values) / (past * b + now);
}

}  // namespace heed
