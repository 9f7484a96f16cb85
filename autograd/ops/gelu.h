// Gaussian error linear unit, as torch.nn.functional.gelu.                     x (...) -> y (...)
//   erf    y  = x/2 (1 + erf(x / sqrt 2))                                      exact
//          dx = dy * (1/2 (1 + erf(x / sqrt 2)) + x e^(-x^2/2) / sqrt(2 pi))
//   tanh   y  = x/2 (1 + t),  t = tanh(u),  u = c (x + 0.044715 x^3),  c = sqrt(2 / pi)
//          dx = dy * (1/2 (1 + t) + x/2 (1 - t^2) c (1 + 3 * 0.044715 x^2))
// Saves x; the backward computes erf or tanh again. Instead of tanh one exponential is computed:
//   1/2 (1 + t) = s = 1 / (1 + e^(-2u)),  1 - t^2 = 4 s (1 - s)
#pragma once

#include <numbers>

#include "autograd/base/modes.h"
#include "autograd/op.h"
#include "autograd/ops/arithmetic.h"
#include "autograd/ops/erf.h"
#include "autograd/ops/row_loops.h"
#include "autograd/ops/tanh.h"

namespace heed {

enum class Gelu { erf, tanh };

namespace detail {
inline constexpr real gelu_cubic = real(0.044715);
inline constexpr real gelu_slope =  // sqrt(2 / pi)
    std::numbers::sqrt2_v<real> * std::numbers::inv_sqrtpi_v<real>;
inline constexpr real inv_sqrt2 = std::numbers::sqrt2_v<real> / 2;

// s above, 0 where it would be less than 1e-34. Inlined for the same reason as exp_of.
[[gnu::always_inline]] inline real gelu_sigmoid(real v) {
  const real w = -2 * gelu_slope * v * multiply_add(gelu_cubic * v, v, 1);
  return w > 80 ? 0 : 1 / (1 + exp_of(w));
}

struct ValueAndDerivative {
  real value, derivative;
};

// Returns f(both), where both(v) is gelu and its derivative at v. The compiler drops the one that f
// does not use.
template <class F>
auto with_gelu(Gelu kind, F&& f) {
  if (kind == Gelu::erf) {
    return f([](real v) {
      const Normal normal = normal_at(v);
      return ValueAndDerivative{v * normal.below, normal.below + v * normal.density};
    });
  }
  return f([](real v) {
    const real s = gelu_sigmoid(v);
    const real bend = 2 * gelu_slope * multiply_add(3 * gelu_cubic * v, v, 1);
    return ValueAndDerivative{v * s, multiply_add(v * s * (1 - s), bend, s)};
  });
}
}  // namespace detail

[[nodiscard]] inline Tensor gelu_composed(const Tensor& x, Gelu kind = Gelu::erf) {
  if (kind == Gelu::erf) {
    return real(0.5) * x * (1 + erf(x * detail::inv_sqrt2));
  }
  return real(0.5) * x * (1 + tanh(detail::gelu_slope * (x + detail::gelu_cubic * (x * x * x))));
}

[[nodiscard]] inline Tensor gelu(const Tensor& x, Gelu kind = Gelu::erf) {
  if (!fused()) {
    return gelu_composed(x, kind);
  }
  return detail::with_gelu(kind, [&](auto both) {
    return record("gelu", fast_map(x.value(), [=](real v) { return both(v).value; }), {x},
                  [x = x.value(), both](const Array& dy, Grads& grads) {
                    fast_emit(grads, 0, dy, x,
                              [=](real g, real v) { return g * both(v).derivative; });
                  });
  });
}

}  // namespace heed
