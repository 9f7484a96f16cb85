// y = e^x                                                  x (...) -> y (...)
//   dx = dy * y                                            saves y
#pragma once

#include "autograd/op.h"
#include "autograd/ops/row_loops.h"

namespace heed {

[[nodiscard]] inline Tensor exp(const Tensor& x) {
  Array y = fast_map(x.value(), [](real v) { return fast_exp(v); });
  return record("exp", y, {x}, [y](const Array& dy, Grads& grads) {
    grads.emit(0, [g = dy.data(), e = y.data()](int64_t i) { return g[i] * e[i]; });
  });
}

}  // namespace heed
