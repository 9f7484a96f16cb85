// softmax over the last axis.                              x (..., n) -> y (..., n)
//   y_i  = exp(x_i - max x) / sum_j exp(x_j - max x)        rows of y sum to 1
//   dx_i = y_i * (dy_i - sum_j dy_j * y_j)                  saves y, not x
// A row of nothing but -infinity (nothing to attend to) gives zeros and zero gradients, where
// PyTorch's softmax gives NaN.
#pragma once

#include "autograd/kernels/row_math.h"
#include "autograd/op.h"
#include "autograd/ops/row_loops.h"

namespace heed {

namespace detail {
inline void softmax_row(const real* x, real* y, int64_t n) {
  const real top = row_max(x, n);
  if (row_is_masked(x, n, top)) {
    std::fill_n(y, n, real{0});
    return;
  }
  vector_map(x, y, n, [top](real v) { return exp_of(v - top); });
  const real total = row_sum(n, [y](int64_t begin, int64_t end) {
    return sum_of(begin, end, [v = y](int64_t i) { return v[i]; });
  });
  for (int64_t i = 0; i < n; ++i) {
    y[i] /= total;
  }
}
}  // namespace detail

[[nodiscard]] inline Tensor softmax(const Tensor& x) {
  require(x.rank() >= 1 && x.dim(-1) >= 1, "softmax: expected x (..., n >= 1), got ", x.shape());
  const Rows rows = rows_of(x.shape());
  Array y = map_rows(x.value(), [n = rows.width](int64_t, const real* in, real* out) {
    detail::softmax_row(in, out, n);
  });
  return record("softmax", y, {x}, [y, rows](const Array& dy, Grads& grads) {
    grads.emit_rows(0, rows, [&, ys = y.data(), gs = dy.data()](int64_t r, auto put) {
      const real *s = ys + r * rows.width, *g = gs + r * rows.width;
      const real dot = row_dot(g, s, rows.width);
      for (int64_t i = 0; i < rows.width; ++i) {
        put(i, s[i] * (g[i] - dot));
      }
    });
  });
}

}  // namespace heed
