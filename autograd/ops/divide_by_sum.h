// Rows divided by their sum: the plainest way to weights that sum to 1.   x (..., n) -> y (..., n)
//   y_i  = x_i / s,  s = sum_j x_j                         0 in a row whose sum is 0
//   dx_i = (dy_i - sum_j dy_j y_j) / s                     0 in such a row
// A negative x gives a negative weight, and a sum near 0 large weights of both signs: softmax has
// neither. Composed of basic operations.
#pragma once

#include "autograd/ops/arithmetic.h"
#include "autograd/ops/masked_fill.h"
#include "autograd/ops/sum.h"

namespace heed {

[[nodiscard]] inline Tensor divide_by_sum(const Tensor& x) {
  require(x.rank() >= 1, "divide_by_sum: expected x (..., n), got ", x.shape());
  const Tensor total = sum(x, -1, /*keepdim=*/true);
  const Mask none = map<uint8_t>(total.value(), [](real s) { return s == 0; });
  return x * masked_fill(Tensor(real{1}) / masked_fill(total, none, 1), none, 0);
}

}  // namespace heed
