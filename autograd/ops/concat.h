// Concatenates tensors along an axis, as torch.cat.
//   x_k (outer, n_k, inner) -> y (outer, n, inner),  n = sum_k n_k
//   y    = [x_0, x_1, ...] along the axis
//   dx_k = dy[:, b_k : b_k + n_k],  b_k = n_0 + ... + n_(k-1)        saves nothing
// All extents except that of the axis must be equal; otherwise ShapeError.
#pragma once

#include <vector>

#include "autograd/op.h"
#include "autograd/ops/row_loops.h"
#include "autograd/ops/slice.h"

namespace heed {

namespace detail {
inline Shape concat_shape(const std::vector<Tensor>& parts, int axis) {
  require(!parts.empty(), "concat: expected at least one tensor, got none");
  const Shape& first = parts[0].shape();
  const int at = first.index_of(axis);
  int64_t total = 0;
  for (size_t k = 0; k < parts.size(); ++k) {
    const Shape& shape = parts[k].shape();
    require(shape.rank() == first.rank() && shape.with(at, 0) == first.with(at, 0),
            "concat: expected shapes that agree but on axis ", axis, ", got ", first,
            " and, as number ", k, ", ", shape);
    total = saturated_sum(total, shape[at]);
  }
  return first.with(at, total);
}
}  // namespace detail

[[nodiscard]] inline Tensor concat(const std::vector<Tensor>& parts, int axis) {
  const Shape shape = detail::concat_shape(parts, axis);
  const AxisSplit split = split_at(shape, axis);
  const int64_t n = split.n * split.inner;
  Array y = Array::uninitialised(shape);
  int64_t offset = 0;
  std::vector<int64_t> extents;
  for (const Tensor& part : parts) {
    const int64_t width = part.dim(axis) * split.inner;
    const Array from = part.value();
    detail::copy_strips(split.outer, width, from.data(), width, y.mutable_data() + offset, n);
    extents.push_back(part.dim(axis));
    offset += width;
  }
  return record("concat", std::move(y), parts,
                [axis, split, n, extents](const Array& dy, Grads& grads) {
                  const real* from = dy.data();
                  for (size_t k = 0; k < extents.size(); ++k) {
                    const int64_t width = extents[k] * split.inner;
                    if (grads.needs(k)) {
                      Array dx = Array::uninitialised(dy.shape().with(axis, extents[k]));
                      detail::copy_strips(split.outer, width, from, n, dx.mutable_data(), width);
                      grads.add(k, std::move(dx));
                    }
                    from += width;
                  }
                });
}

}  // namespace heed
