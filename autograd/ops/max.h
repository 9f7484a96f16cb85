// Largest element, of everything or along one axis, as torch.max.
//   x (...) -> y ()
//     dx_i = dy / (number of elements equal to y) where x_i = y, else 0      saves x and y
//   x (outer, n, inner) -> y (outer, inner)
//     dx   = dy at the first index that holds y, else 0                      saves the indices
// NaN counts as larger than everything. ShapeError if there is no element to choose from.
#pragma once

#include "autograd/op.h"
#include "autograd/ops/row_loops.h"

namespace heed {

// The first index of the largest element along `axis`: x (outer, n, inner) -> (outer, inner)
[[nodiscard]] Ids argmax(const Array& x, int axis);

namespace detail {
Array max_of_all(const Array& x);
Array pick_along(const Array& x, const Ids& index, const AxisSplit& split);
void scatter_along(const Array& dy, const Ids& index, const AxisSplit& split, Grads& grads);
void share_among_equals(const Array& x, const Array& y, const Array& dy, Grads& grads);
}  // namespace detail

[[nodiscard]] inline Tensor max(const Tensor& x) {
  require(x.size() > 0, "max: expected at least one element, got ", x.shape());
  Array y = detail::max_of_all(x.value());
  return record("max", y, {x}, [x = x.value(), y](const Array& dy, Grads& grads) {
    detail::share_among_equals(x, y, dy, grads);
  });
}

[[nodiscard]] inline Tensor max(const Tensor& x, int axis, bool keepdim = false) {
  const AxisSplit split = split_at(x.shape(), axis);
  const Ids index = argmax(x.value(), axis);
  const Array y = detail::pick_along(x.value(), index, split);
  return record("max", y.reshaped(reduced_shape(x.shape(), axis, keepdim)), {x},
                [index, split](const Array& dy, Grads& grads) {
                  detail::scatter_along(dy, index, split, grads);
                });
}

}  // namespace heed
