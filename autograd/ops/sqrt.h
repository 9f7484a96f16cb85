// y = sqrt(x)                                              x (...) -> y (...)
//   dx = dy / (2 y)                                        saves y
// The slope at 0 is infinite, as in PyTorch: add an epsilon to x if 0 can occur.
#pragma once

#include "autograd/op.h"

namespace heed {

[[nodiscard]] inline Tensor sqrt(const Tensor& x) {
  Array y = map(x.value(), [](real v) { return std::sqrt(v); });
  return record("sqrt", y, {x}, [y](const Array& dy, Grads& grads) {
    grads.emit(0, [g = dy.data(), s = y.data()](int64_t i) { return g[i] / (2 * s[i]); });
  });
}

}  // namespace heed
