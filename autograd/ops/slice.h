// The part [begin, end) of one axis.       x (outer, n, inner) -> y (outer, end - begin, inner)
//   y[:, i]          = x[:, begin + i]
//   dx[:, begin + i] = dy[:, i], 0 elsewhere               saves nothing
// Negative begin and end count from the end of the axis. ShapeError unless 0 <= begin <= end <= n.
#pragma once

#include "autograd/op.h"
#include "autograd/ops/row_loops.h"

namespace heed {

namespace detail {
// Copies `count` rows of `width` elements. The steps are the distances between the starts of rows.
void copy_strips(int64_t count, int64_t width, const real* from, int64_t step_from, real* to,
                 int64_t step_to);
// Adds dy (outer, width) to columns [first, first + width) of d(input 0) (outer, n).
void put_strips(Grads& grads, int64_t outer, int64_t n, int64_t first, int64_t width,
                const Array& dy);
}  // namespace detail

[[nodiscard]] inline Tensor slice(const Tensor& x, int axis, int64_t begin, int64_t end) {
  const AxisSplit split = split_at(x.shape(), axis);
  const int64_t first = begin < 0 ? begin + split.n : begin, last = end < 0 ? end + split.n : end;
  require(0 <= first && first <= last && last <= split.n,
          "slice: expected 0 <= begin <= end <= ", split.n, " on axis ", axis, " of x ", x.shape(),
          ", got [", begin, ", ", end, ")");
  const Array from = x.value();
  Array y = Array::uninitialised(x.shape().with(axis, last - first));
  const int64_t n = split.n * split.inner, offset = first * split.inner;
  const int64_t width = (last - first) * split.inner;
  detail::copy_strips(split.outer, width, from.data() + offset, n, y.mutable_data(), width);
  return record("slice", std::move(y), {x},
                [outer = split.outer, n, offset, width](const Array& dy, Grads& grads) {
                  detail::put_strips(grads, outer, n, offset, width, dy);
                });
}

}  // namespace heed
