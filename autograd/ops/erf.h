// The error function.                                    x (...) -> y (...)
//   y  = 2 / sqrt(pi) integral_0^x e^(-t^2) dt
//   dx = dy * 2 / sqrt(pi) e^(-x^2)                        saves x
#pragma once

#include <numbers>

#include "autograd/op.h"
#include "autograd/ops/row_loops.h"

namespace heed {

[[nodiscard]] inline Tensor erf(const Tensor& x) {
  Array y = fast_map(x.value(), [](real v) { return fast_erf(v); });
  return record("erf", std::move(y), {x}, [x = x.value()](const Array& dy, Grads& grads) {
    constexpr real slope = 2 * std::numbers::inv_sqrtpi_v<real>;
    fast_emit(grads, 0, dy, x, [](real g, real v) { return g * slope * fast_exp(-v * v); });
  });
}

}  // namespace heed
