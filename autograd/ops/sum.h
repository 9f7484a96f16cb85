// Sum over everything or over one axis.
//   x (...) -> y ()        x (outer, n, inner) -> y (outer, inner)
//   y    = sum_i x_i
//   dx_i = dy                                              saves nothing
// The sum is accumulated in double; that of no elements is 0. With keepdim the axis is kept, with
// extent 1.
#pragma once

#include "autograd/op.h"
#include "autograd/ops/row_loops.h"

namespace heed {

[[nodiscard]] inline Tensor sum(const Tensor& x) {
  Array y = Array::full({}, static_cast<real>(sum_all(x.value())));
  return record("sum", std::move(y), {x}, [](const Array& dy, Grads& grads) {
    grads.emit(0, [g = dy.data()](int64_t) { return *g; });
  });
}

[[nodiscard]] inline Tensor sum(const Tensor& x, int axis, bool keepdim = false) {
  const AxisSplit split = split_at(x.shape(), axis);
  Array y = sum_axis(x.value(), axis).reshaped(reduced_shape(x.shape(), axis, keepdim));
  return record("sum", std::move(y), {x}, [split](const Array& dy, Grads& grads) {
    emit_stretched(grads, 0, split, [g = dy.data()](int64_t at, int64_t) { return g[at]; });
  });
}

}  // namespace heed
