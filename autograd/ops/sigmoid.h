// y = 1 / (1 + e^-x)                                       x (...) -> y (...)
//   dx = dy * y * (1 - y)                                  saves y
#pragma once

#include "autograd/op.h"
#include "autograd/ops/row_loops.h"

namespace heed {

[[nodiscard]] inline Tensor sigmoid(const Tensor& x) {
  Array y = fast_map(x.value(), [](real v) { return 1 / (1 + fast_exp(-v)); });
  return record("sigmoid", y, {x}, [y](const Array& dy, Grads& grads) {
    grads.emit(0, [g = dy.data(), s = y.data()](int64_t i) { return g[i] * s[i] * (1 - s[i]); });
  });
}

}  // namespace heed
