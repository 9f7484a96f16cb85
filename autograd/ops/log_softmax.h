// Logarithm of softmax, over the last axis.                x (..., n) -> y (..., n)
//   m    = max_j x_j
//   y_i  = x_i - m - ln sum_j exp(x_j - m)
//   dx_i = dy_i - exp(y_i) sum_j dy_j                      saves y
// A row that is all -infinity gives -infinity and a gradient of zeros, where PyTorch gives NaN.
// This is the logarithm of softmax, which is 0 for such a row.
#pragma once

#include "autograd/kernels/row_math.h"
#include "autograd/op.h"
#include "autograd/ops/row_loops.h"

namespace heed {

namespace detail {
inline void log_softmax_row(const real* x, real* y, int64_t n) {
  const real top = row_max(x, n);
  if (row_is_masked(x, n, top)) {
    std::fill_n(y, n, minus_infinity);
    return;
  }
  const real log_sum = fast_log(row_sum_exp(x, n, top));
  for (int64_t i = 0; i < n; ++i) {
    y[i] = (x[i] - top) - log_sum;
  }
}

// dx = dy - exp(y) sum dy
inline void log_softmax_row_backward(const real* y, const real* dy, real* dx, int64_t n) {
  if (row_is_masked(y, n, row_max(y, n))) {
    std::fill_n(dx, n, real{0});
    return;
  }
  const real total = sum_of(0, n, [dy](int64_t i) { return dy[i]; });
  vexp(y, dx, n);
  for (int64_t i = 0; i < n; ++i) {
    dx[i] = dy[i] - dx[i] * total;
  }
}
}  // namespace detail

[[nodiscard]] inline Tensor log_softmax(const Tensor& x) {
  require(x.rank() >= 1 && x.dim(-1) >= 1, "log_softmax: expected x (..., n >= 1), got ",
          x.shape());
  const int64_t n = x.dim(-1);
  Array y = map_rows(
      x.value(), [n](int64_t, const real* in, real* out) { detail::log_softmax_row(in, out, n); });
  return record("log_softmax", y, {x}, [y, n](const Array& dy, Grads& grads) {
    grads.add(0, map_rows(y, [n, g = dy.data()](int64_t r, const real* of, real* dx) {
                detail::log_softmax_row_backward(of, g + r * n, dx, n);
              }));
  });
}

}  // namespace heed
