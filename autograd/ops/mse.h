// Mean squared error.                                      x (...), target t (...) -> y ()
//   y    = sum_i (x_i - t_i)^2 / n
//   dx_i = dy * 2 (x_i - t_i) / n
//   dt_i = -dx_i                                           saves x - t
// ShapeError unless both have the same shape: broadcasting here is nearly always a mistake.
#pragma once

#include "autograd/op.h"

namespace heed {

[[nodiscard]] inline Tensor mse(const Tensor& x, const Tensor& target) {
  require(x.shape() == target.shape(), "mse: expected two tensors of one shape, got ", x.shape(),
          " and ", target.shape());
  require(x.size() > 0, "mse: expected at least one element, got ", x.shape());
  const Array difference =
      zip("mse", x.value(), target.value(), [](real a, real b) { return a - b; });
  const auto n = static_cast<double>(x.size());
  const double squares = sum_all(map(difference, [](real d) { return d * d; }));
  return record("mse", Array::full({}, static_cast<real>(squares / n)), {x, target},
                [difference, n](const Array& dy, Grads& grads) {
                  const real *g = dy.data(), *d = difference.data();
                  const real factor = static_cast<real>(2 / n);
                  const auto slope = [=](int64_t i) { return *g * factor * d[i]; };
                  if (grads.needs(0)) grads.emit(0, slope);
                  if (grads.needs(1)) grads.emit(1, [slope](int64_t i) { return -slope(i); });
                });
}

}  // namespace heed
