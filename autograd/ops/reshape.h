// The same numbers in the same order under another shape.  x (...) -> y (shape), the same size
//   dx = dy under x's shape                                saves nothing, copies nothing
#pragma once

#include "autograd/op.h"

namespace heed {

[[nodiscard]] inline Tensor reshape(const Tensor& x, const Shape& shape) {
  return record(
      "reshape", x.value().reshaped(shape), {x},
      [of_x = x.shape()](const Array& dy, Grads& grads) { grads.add(0, dy.reshaped(of_x)); });
}

}  // namespace heed
