// The same elements in the same order under another shape, of the same size.
//   x (...) -> y (shape)
//   dx = dy with the shape of x                            saves nothing, copies nothing
#pragma once

#include "autograd/op.h"

namespace heed {

[[nodiscard]] inline Tensor reshape(const Tensor& x, const Shape& shape) {
  return record(
      "reshape", x.value().reshaped(shape), {x},
      [of_x = x.shape()](const Array& dy, Grads& grads) { grads.add(0, dy.reshaped(of_x)); });
}

}  // namespace heed
