// Reorders axes.
//   permute     axis k of y is axis order[k] of x           dx = dy in the inverse order
//   transpose   two axes of x are swapped                   dx = dy with the same two swapped
// Saves nothing. The elements are copied: by whole rows if the last axis stays last, as in
// (b, t, heads, d) -> (b, heads, t, d). Negative axes count from the end. ShapeError if an axis is
// missing or given twice.
#pragma once

#include <numeric>

#include "autograd/array/permute.h"
#include "autograd/op.h"

namespace heed {

namespace detail {
inline Tensor reorder(const char* op, const Tensor& x, const AxisOrder& order) {
  return record(op, permuted(x.value(), order), {x},
                [back = inverse_order(order, x.rank())](const Array& dy, Grads& grads) {
                  grads.add(0, permuted(dy, back));
                });
}
}  // namespace detail

[[nodiscard]] inline Tensor permute(const Tensor& x, std::initializer_list<int> order) {
  require(static_cast<int>(order.size()) == x.rank(), "permute: expected ", x.rank(),
          " axes for x ", x.shape(), ", got ", order.size());
  AxisOrder axes{};
  size_t k = 0;
  for (const int axis : order) {
    axes[k++] = x.shape().index_of(axis);
    require(std::count(axes.begin(), axes.begin() + k, axes[k - 1]) == 1,
            "permute: expected every axis of x ", x.shape(), " once, got axis ", axes[k - 1],
            " twice");
  }
  return detail::reorder("permute", x, axes);
}

[[nodiscard]] inline Tensor transpose(const Tensor& x, int axis_a, int axis_b) {
  AxisOrder axes{};
  std::iota(axes.begin(), axes.end(), 0);
  std::swap(axes[static_cast<size_t>(x.shape().index_of(axis_a))],
            axes[static_cast<size_t>(x.shape().index_of(axis_b))]);
  return detail::reorder("transpose", x, axes);
}

}  // namespace heed
