// Mean over everything or over one axis.
//   x (...) -> y ()        x (outer, n, inner) -> y (outer, inner)
//   y    = sum_i x_i / n
//   dx_i = dy / n                                          saves nothing
// With keepdim the axis is kept, with extent 1. ShapeError if n is 0.
#pragma once

#include "autograd/op.h"
#include "autograd/ops/row_loops.h"

namespace heed {

[[nodiscard]] inline Tensor mean(const Tensor& x) {
  require(x.size() > 0, "mean: expected at least one element, got ", x.shape());
  const auto n = static_cast<double>(x.size());
  Array y = Array::full({}, static_cast<real>(sum_all(x.value()) / n));
  return record("mean", std::move(y), {x}, [n](const Array& dy, Grads& grads) {
    grads.emit(0, [g = dy.data(), n = static_cast<real>(n)](int64_t) { return *g / n; });
  });
}

[[nodiscard]] inline Tensor mean(const Tensor& x, int axis, bool keepdim = false) {
  const AxisSplit split = split_at(x.shape(), axis);
  require(split.n > 0, "mean: expected at least one element on axis ", axis, ", got ", x.shape());
  const real n = static_cast<real>(split.n);
  Array y = map(sum_axis(x.value(), axis), [n](real v) { return v / n; });
  return record("mean", y.reshaped(reduced_shape(x.shape(), axis, keepdim)), {x},
                [split, n](const Array& dy, Grads& grads) {
                  const real* g = dy.data();
                  emit_stretched(grads, 0, split,
                                 [g, n](int64_t at, int64_t) { return g[at] / n; });
                });
}

}  // namespace heed
