// Stacks tensors of one shape along a new axis, as torch.stack.
//   x_k (outer, inner) for k < n -> y (outer, n, inner)
//   y[:, k] = x_k
//   dx_k    = dy[:, k]                                     saves nothing
// The new axis is axis `axis` of y. A negative axis counts from the end of y: -1 appends it.
#pragma once

#include <vector>

#include "autograd/op.h"
#include "autograd/ops/concat.h"
#include "autograd/ops/reshape.h"

namespace heed {

[[nodiscard]] inline Tensor stack(const std::vector<Tensor>& parts, int axis = 0) {
  require(!parts.empty(), "stack: expected at least one tensor, got none");
  const Shape& first = parts[0].shape();
  const int at = axis < 0 ? axis + first.rank() + 1 : axis;
  require(at >= 0 && at <= first.rank(), "stack: expected an axis from ", -first.rank() - 1, " to ",
          first.rank(), ", got ", axis);
  std::vector<Tensor> slabs;
  for (size_t k = 0; k < parts.size(); ++k) {
    require(parts[k].shape() == first, "stack: expected tensors of one shape, got ", first,
            " and, as number ", k, ", ", parts[k].shape());
    slabs.push_back(reshape(parts[k], first.inserted(at, 1)));
  }
  return concat(slabs, at);
}

}  // namespace heed
