// Logarithm of softmax, over the last axis.                x (..., n) -> y (..., n)
//   m    = max_j x_j
//   y_i  = x_i - m - ln sum_j exp(x_j - m)
//   dx_i = dy_i - exp(y_i) sum_j dy_j                      saves y
// A row that is all -infinity gives -infinity and a gradient of zeros, where PyTorch gives NaN.
// This is the logarithm of softmax, which is 0 for such a row.
#pragma once

#include "autograd/kernels/row_math.h"
#include "autograd/op.h"

namespace heed {

namespace detail {
inline void log_softmax_row(const real* x, real* y, int64_t n) {
  const real top = row_max(x, n);
  if (row_is_masked(x, n, top)) {
    std::fill_n(y, n, minus_infinity);
    return;
  }
  const real log_sum = std::log(row_sum_exp(x, n, top));
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
  real total = 0;
#pragma omp simd reduction(+ : total)
  for (int64_t i = 0; i < n; ++i) {
    total += dy[i];
  }
  vexp(y, dx, n);
  for (int64_t i = 0; i < n; ++i) {
    dx[i] = dy[i] - dx[i] * total;
  }
}
}  // namespace detail

[[nodiscard]] inline Tensor log_softmax(const Tensor& x) {
  require(x.rank() >= 1 && x.dim(-1) >= 1, "log_softmax: expected x (..., n >= 1), got ",
          x.shape());
  const Rows rows = rows_of(x.shape());
  const Array from = x.value();
  Array y = Array::uninitialised(x.shape());
  const real* in = from.data();
  real* out = y.mutable_data();
  parallel_rows(rows.count, rows.width, [=](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      detail::log_softmax_row(in + r * rows.width, out + r * rows.width, rows.width);
    }
  });
  return record("log_softmax", y, {x}, [y, rows](const Array& dy, Grads& grads) {
    Array dx = Array::uninitialised(dy.shape());
    const real *values = y.data(), *g = dy.data();
    real* to = dx.mutable_data();
    parallel_rows(rows.count, rows.width, [=](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const int64_t at = r * rows.width;
        detail::log_softmax_row_backward(values + at, g + at, to + at, rows.width);
      }
    });
    grads.add(0, std::move(dx));
  });
}

}  // namespace heed
