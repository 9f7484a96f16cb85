// An operation with its backward, with broadcasting.
//   y  = (a - b)^2                         a, b of shapes that broadcast -> y
//   da = 2 (a - b) dy,  db = -da           saves a - b
#pragma once

#include <heed/autograd/op.h>

namespace extension {

using namespace heed;

[[nodiscard]] inline Tensor squared_difference(const Tensor& a, const Tensor& b) {
  const char* const op = "squared_difference";
  const Array d = zip(op, a.value(), b.value(), [](real u, real v) { return u - v; });
  Array y = map(d, [](real v) { return v * v; });
  return record(op, std::move(y), {a, b}, [d](const Array& dy, Grads& grads) {
    // add() sums over what was broadcast, so both gradients have the shape of y here.
    const auto slope = [](real g, real v) { return 2 * g * v; };
    if (grads.needs(0)) grads.add(0, zip("squared_difference", dy, d, slope));
    const auto minus_slope = [](real g, real v) { return -2 * g * v; };
    if (grads.needs(1)) grads.add(1, zip("squared_difference", dy, d, minus_slope));
  });
}

}  // namespace extension
