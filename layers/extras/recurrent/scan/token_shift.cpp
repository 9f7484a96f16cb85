#include "layers/extras/recurrent/scan/token_shift.h"

#include "autograd/ops/arithmetic.h"
#include "autograd/ops/concat.h"
#include "autograd/ops/slice.h"

namespace heed {

namespace {

void check_shift(const Shape& x, const Shape& mu, const Array& last) {
  require(x.rank() == 3 && x[1] >= 1 && mu == Shape{1, 1, x[2]},
          "token_shift: expected x (B, T >= 1, d) and mu (1, 1, d), got ", x, " and ", mu);
  require(!last || last.shape() == x.with(1, 1), "token_shift: expected the last token ",
          x.with(1, 1), ", got ", last.shape());
}

Array last_or_zeros(const Array& last, const Shape& x) {
  return last ? last : Array::zeros(x.with(1, 1));
}

}  // namespace

Tensor token_shift_composed(const Tensor& x, const Tensor& mu, const Array& last) {
  check_shift(x.shape(), mu.shape(), last);
  const Tensor first(last_or_zeros(last, x.shape()));
  const Tensor before = concat({first, slice(x, 1, 0, x.dim(1) - 1)}, 1);
  return before + mu * (x - before);
}

namespace {

struct TokenShift {
  Array x, mu, last;

  int64_t tokens() const { return x.dim(1); }
  int64_t width() const { return x.dim(2); }
  // x_(t-1) of row r = b T + t.
  const real* before(int64_t r) const {
    return r % tokens() > 0 ? x.data() + (r - 1) * width() : last.data() + r / tokens() * width();
  }
  Array forward() const;
  void backward(const Array& dy, Grads& grads) const;
};

Array TokenShift::forward() const {
  Array y = Array::uninitialised(x.shape());
  const int64_t d = width();
  const real *const in = x.data(), *const share = mu.data();
  parallel_for(x.dim(0) * tokens(), row_grain(d),
               [=, this, out = y.mutable_data()](int64_t begin, int64_t end) {
                 for (int64_t r = begin; r < end; ++r) {
                   const real *const now = in + r * d, *const old = before(r);
#pragma omp simd
                   for (int64_t i = 0; i < d; ++i) {
                     out[r * d + i] = old[i] + share[i] * (now[i] - old[i]);
                   }
                 }
               });
  return y;
}

void TokenShift::backward(const Array& dy, Grads& grads) const {
  const int64_t d = width(), batch = x.dim(0), T = tokens();
  const real *const slopes = dy.data(), *const in = x.data(), *const share = mu.data();
  if (grads.needs(0)) {
    grads.emit_rows(0, {batch * T, d}, [=](int64_t r, auto put) {
      const real* const now = slopes + r * d;
      const bool last_token = r % T == T - 1;
      for (int64_t i = 0; i < d; ++i) {
        put(i, share[i] * now[i] + (last_token ? 0 : (1 - share[i]) * now[d + i]));
      }
    });
  }
  if (grads.needs(1)) {
    Array sums = Array::uninitialised({batch, 1, d});  // of each sequence; add() adds them
    parallel_each(batch, 1, [=, this, out = sums.mutable_data()](int64_t b) {
      real* const sum = out + b * d;
      std::fill_n(sum, d, real{0});
      for (int64_t r = b * T; r < (b + 1) * T; ++r) {
        const real *const now = in + r * d, *const old = before(r);
#pragma omp simd
        for (int64_t i = 0; i < d; ++i) {
          sum[i] += slopes[r * d + i] * (now[i] - old[i]);
        }
      }
    });
    grads.add(1, std::move(sums));
  }
}

}  // namespace

Tensor token_shift(const Tensor& x, const Tensor& mu, const Array& last) {
  check_shift(x.shape(), mu.shape(), last);
  if (!fused()) {
    return token_shift_composed(x, mu, last);
  }
  TokenShift call{x.value(), mu.value(), last_or_zeros(last, x.shape())};
  Array y = call.forward();
  return record(
      "token_shift", std::move(y), {x, mu},
      [call = std::move(call)](const Array& dy, Grads& grads) { call.backward(dy, grads); });
}

}  // namespace heed
