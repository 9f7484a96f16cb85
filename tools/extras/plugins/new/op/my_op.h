// my_op: a times the sigmoid of b.        a, b of shapes that broadcast -> y
//   y  = a * s,  s = 1 / (1 + e^-b)
//   da = dy * s
//   db = dy * a * s * (1 - s)             saves a and s
#pragma once

#include <heed/autograd/op.h>
#include <heed/autograd/ops/arithmetic.h>
#include <heed/autograd/ops/sigmoid.h>

#include <cmath>

namespace mine {

using namespace heed;

// The same, composed of other operations: a definition of my_op, used by the tests as a reference.
[[nodiscard]] inline Tensor my_op_composed(const Tensor& a, const Tensor& b) {
  return a * sigmoid(b);
}

[[nodiscard]] inline Tensor my_op(const Tensor& a, const Tensor& b) {
  const auto times = [](real u, real v) { return u * v; };
  const Array s = map(b.value(), [](real v) { return 1 / (1 + std::exp(-v)); });
  Array y = zip("my_op", a.value(), s, times);  // throws if the shapes do not broadcast
  // The lambda's captures are what is saved for backward: Arrays and numbers, never a Tensor.
  return record("my_op", std::move(y), {a, b},
                [a = a.value(), s, times](const Array& dy, Grads& grads) {
                  if (!grads.needs(0) && !grads.needs(1)) return;
                  const Array dy_s = zip("my_op", dy, s, times);
                  // add() sums over broadcast axes.
                  if (grads.needs(1)) {
                    const Array slope = map(s, [](real v) { return 1 - v; });
                    grads.add(1, zip("my_op", zip("my_op", dy_s, a, times), slope, times));
                  }
                  if (grads.needs(0)) grads.add(0, dy_s);
                });
}

}  // namespace mine
