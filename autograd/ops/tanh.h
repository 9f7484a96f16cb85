// y = tanh x                                               x (...) -> y (...)
//   dx = dy * (1 - y^2)                                    saves y
#pragma once

#include "autograd/op.h"
#include "autograd/ops/row_loops.h"

namespace heed {

[[nodiscard]] inline Tensor tanh(const Tensor& x) {
  Array y = fast_map(x.value(), [](real v) { return fast_tanh(v); });
  return record("tanh", y, {x}, [y](const Array& dy, Grads& grads) {
    grads.emit(0, [g = dy.data(), t = y.data()](int64_t i) { return g[i] * (1 - t[i] * t[i]); });
  });
}

}  // namespace heed
