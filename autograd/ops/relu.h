// y = max(x, 0)                                            x (...) -> y (...)
//   dx = dy where y > 0, else 0                            saves y
// The slope at 0 is 0, as in PyTorch. NaN stays NaN.
#pragma once

#include "autograd/op.h"

namespace heed {

[[nodiscard]] inline Tensor relu(const Tensor& x) {
  Array y = map(x.value(), [](real v) { return v <= 0 ? real{0} : v; });
  return record("relu", y, {x}, [y](const Array& dy, Grads& grads) {
    grads.emit(0, [g = dy.data(), v = y.data()](int64_t i) { return v[i] <= 0 ? real{0} : g[i]; });
  });
}

}  // namespace heed
