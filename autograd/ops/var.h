// Variance over everything or over one axis, as torch.var.
//   x (...) -> y ()        x (outer, n, inner) -> y (outer, inner)
//   m    = sum_i x_i / n
//   y    = sum_i (x_i - m)^2 / (n - correction)            two passes
//   dx_i = dy * 2 (x_i - m) / (n - correction)             saves x and m
// correction 1, the default of PyTorch, estimates the variance of the distribution that x is a
// sample of; correction 0 is the variance of x itself, used by layer norms. ShapeError unless
// n > correction.
#pragma once

#include "autograd/op.h"
#include "autograd/ops/row_loops.h"

namespace heed {

struct VarOptions {
  int correction = 1;
  bool keepdim = false;  // the axis is kept, with extent 1
};

namespace detail {
inline void check_var(const Shape& shape, int64_t n, int correction) {
  require(correction >= 0, "var: expected a correction of 0 or more, got ", correction);
  require(n > correction, "var: expected more than ", correction,
          " elements (the correction), got ", n, " of ", shape);
}

// Sums x (outer, n, inner) over its middle axis. If that is the only axis, the sum itself is
// parallel.
inline Array sum_split(const Array& x, const AxisSplit& split) {
  if (split.outer == 1 && split.inner == 1) {
    return Array::full({1, 1, 1}, static_cast<real>(sum_all(x)));
  }
  return sum_axis(x.reshaped({split.outer, split.n, split.inner}), 1);
}

inline Tensor var_over(const Tensor& x, const AxisSplit& split, int correction, const Shape& out) {
  const Array folded = x.value().reshaped({split.outer, split.n, split.inner});
  const real n = static_cast<real>(split.n), divisor = static_cast<real>(split.n - correction);
  const Array m = map(sum_split(folded, split), [n](real v) { return v / n; });
  const Array squares = zip("var", folded, m, [](real v, real c) { return (v - c) * (v - c); });
  const Array y = map(sum_split(squares, split), [divisor](real v) { return v / divisor; });
  return record(
      "var", y.reshaped(out), {x}, [folded, m, split, divisor](const Array& dy, Grads& grads) {
        const real *g = dy.data(), *v = folded.data(), *c = m.data();
        emit_stretched(grads, 0, split,
                       [=](int64_t at, int64_t i) { return g[at] * 2 * (v[i] - c[at]) / divisor; });
      });
}
}  // namespace detail

[[nodiscard]] inline Tensor var(const Tensor& x, VarOptions options = {}) {
  detail::check_var(x.shape(), x.size(), options.correction);
  Shape out;
  for (int axis = 0; options.keepdim && axis < x.rank(); ++axis) {
    out = out.inserted(axis, 1);
  }
  return detail::var_over(x, {1, x.size(), 1}, options.correction, out);
}

[[nodiscard]] inline Tensor var(const Tensor& x, int axis, VarOptions options = {}) {
  const AxisSplit split = split_at(x.shape(), axis);
  detail::check_var(x.shape(), split.n, options.correction);
  return detail::var_over(x, split, options.correction,
                          reduced_shape(x.shape(), axis, options.keepdim));
}

}  // namespace heed
