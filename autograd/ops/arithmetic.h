// + - * / between tensors, with NumPy's broadcasting, and unary minus. Numbers convert to tensors
// of rank 0, so 2 * x and x + 1 work too.
//   add        y = a + b     da = dy         db = dy
//   subtract   y = a - b     da = dy         db = -dy
//   multiply   y = a * b     da = dy * b     db = dy * a            saves a and b
//   divide     y = a / b     da = dy / b     db = -dy * (y / b)     saves b and y
//   negate     y = -x        dx = -dy
#pragma once

#include "autograd/op.h"

namespace heed {

[[nodiscard]] inline Tensor add(const Tensor& a, const Tensor& b) {
  Array y = zip("add", a.value(), b.value(), [](real u, real v) { return u + v; });
  return record("add", std::move(y), {a, b}, [](const Array& dy, Grads& grads) {
    if (grads.needs(0)) grads.add(0, dy);
    if (grads.needs(1)) grads.add(1, dy);
  });
}

[[nodiscard]] inline Tensor subtract(const Tensor& a, const Tensor& b) {
  Array y = zip("subtract", a.value(), b.value(), [](real u, real v) { return u - v; });
  return record("subtract", std::move(y), {a, b}, [](const Array& dy, Grads& grads) {
    if (grads.needs(0)) grads.add(0, dy);
    if (grads.needs(1)) grads.add(1, map(dy, [](real g) { return -g; }));
  });
}

[[nodiscard]] inline Tensor multiply(const Tensor& a, const Tensor& b) {
  const auto times = [](real u, real v) { return u * v; };
  Array y = zip("multiply", a.value(), b.value(), times);
  return record("multiply", std::move(y), {a, b},
                [a = a.value(), b = b.value(), times](const Array& dy, Grads& grads) {
                  if (grads.needs(0)) grads.add(0, zip("multiply", dy, b, times));
                  if (grads.needs(1)) grads.add(1, zip("multiply", dy, a, times));
                });
}

[[nodiscard]] inline Tensor divide(const Tensor& a, const Tensor& b) {
  const auto over = [](real u, real v) { return u / v; };
  Array y = zip("divide", a.value(), b.value(), over);
  return record("divide", y, {a, b}, [b = b.value(), y, over](const Array& dy, Grads& grads) {
    const auto minus_times = [](real g, real v) { return -g * v; };
    if (grads.needs(1)) grads.add(1, zip("divide", dy, zip("divide", y, b, over), minus_times));
    if (grads.needs(0)) grads.add(0, zip("divide", dy, b, over));
  });
}

[[nodiscard]] inline Tensor negate(const Tensor& x) {
  Array y = map(x.value(), [](real v) { return -v; });
  return record("negate", std::move(y), {x}, [](const Array& dy, Grads& grads) {
    grads.emit(0, [g = dy.data()](int64_t i) { return -g[i]; });
  });
}

[[nodiscard]] inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
[[nodiscard]] inline Tensor operator-(const Tensor& a, const Tensor& b) { return subtract(a, b); }
[[nodiscard]] inline Tensor operator*(const Tensor& a, const Tensor& b) { return multiply(a, b); }
[[nodiscard]] inline Tensor operator/(const Tensor& a, const Tensor& b) { return divide(a, b); }
[[nodiscard]] inline Tensor operator-(const Tensor& x) { return negate(x); }

}  // namespace heed
