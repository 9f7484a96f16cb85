// SiLU, also called swish.                                 x (...) -> y (...)
//   s  = 1 / (1 + e^-x)
//   y  = x * s
//   dx = dy * s * (1 + x (1 - s))                          saves x
#pragma once

#include "autograd/base/modes.h"
#include "autograd/op.h"
#include "autograd/ops/arithmetic.h"
#include "autograd/ops/row_loops.h"
#include "autograd/ops/sigmoid.h"

namespace heed {

[[nodiscard]] inline Tensor silu_composed(const Tensor& x) { return x * sigmoid(x); }

[[nodiscard]] inline Tensor silu(const Tensor& x) {
  if (!fused()) {
    return silu_composed(x);
  }
  Array y = fast_map(x.value(), [](real v) { return v / (1 + fast_exp(-v)); });
  return record("silu", std::move(y), {x}, [x = x.value()](const Array& dy, Grads& grads) {
    fast_emit(grads, 0, dy, x, [](real g, real v) {
      const real s = 1 / (1 + fast_exp(-v));
      return g * s * (1 + v * (1 - s));
    });
  });
}

}  // namespace heed
