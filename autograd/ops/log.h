// y = ln x                                                 x (...) -> y (...)
//   dx = dy / x                                            saves x
// ln 0 is -infinity; the logarithm of a negative number is NaN.
#pragma once

#include "autograd/op.h"
#include "autograd/ops/row_loops.h"

namespace heed {

[[nodiscard]] inline Tensor log(const Tensor& x) {
  Array y = fast_map(x.value(), [](real v) { return fast_log(v); });
  return record("log", std::move(y), {x}, [x = x.value()](const Array& dy, Grads& grads) {
    grads.emit(0, [g = dy.data(), v = x.data()](int64_t i) { return g[i] / v[i]; });
  });
}

}  // namespace heed
