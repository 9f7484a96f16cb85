// Gaussian error linear unit, exact or by tanh, as torch.nn.functional.gelu.    x (...) -> y (...)
//   erf    y = x/2 (1 + erf(x / sqrt 2))
//          dx = dy * (1/2 (1 + erf(x / sqrt 2)) + x e^(-x^2/2) / sqrt(2 pi))
//   tanh   y = x/2 (1 + t),  t = tanh(c (x + 0.044715 x^3)),  c = sqrt(2 / pi)
//          dx = dy * (1/2 (1 + t) + x/2 (1 - t^2) c (1 + 3 * 0.044715 x^2))
// Saves x; the backward computes erf or tanh anew.
#pragma once

#include <numbers>

#include "autograd/fast_map.h"
#include "autograd/fused.h"
#include "autograd/op.h"
#include "autograd/ops/arithmetic.h"
#include "autograd/ops/erf.h"
#include "autograd/ops/tanh.h"

namespace heed {

enum class Gelu { erf, tanh };

namespace detail {
inline constexpr real gelu_cubic = real(0.044715);
inline constexpr real gelu_slope =  // sqrt(2 / pi)
    std::numbers::sqrt2_v<real> * std::numbers::inv_sqrtpi_v<real>;
inline constexpr real inv_sqrt2 = std::numbers::sqrt2_v<real> / 2;

inline real gelu_tanh_argument(real v) { return gelu_slope * (v + gelu_cubic * v * v * v); }

inline real gelu_tanh_derivative(real v) {
  const real t = fast_tanh(gelu_tanh_argument(v));
  const real bend = gelu_slope * (1 + 3 * gelu_cubic * v * v);
  return real(0.5) * (1 + t) + real(0.5) * v * (1 - t * t) * bend;
}

inline real gelu_erf_derivative(real v) {
  const real density = inv_sqrt2 * std::numbers::inv_sqrtpi_v<real> * fast_exp(real(-0.5) * v * v);
  return real(0.5) * (1 + fast_erf(v * inv_sqrt2)) + v * density;
}

// Calls f(value, derivative) with the functions of one number for this kind.
template <class F>
auto with_gelu(Gelu kind, F&& f) {
  if (kind == Gelu::erf) {
    return f([](real v) { return real(0.5) * v * (1 + fast_erf(v * inv_sqrt2)); },
             [](real v) { return gelu_erf_derivative(v); });
  }
  return f([](real v) { return real(0.5) * v * (1 + fast_tanh(gelu_tanh_argument(v))); },
           [](real v) { return gelu_tanh_derivative(v); });
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
  return detail::with_gelu(kind, [&](auto value, auto derivative) {
    return record("gelu", fast_map(x.value(), value), {x},
                  [x = x.value(), derivative](const Array& dy, Grads& grads) {
                    fast_emit(grads, 0, dy, x, [=](real g, real v) { return g * derivative(v); });
                  });
  });
}

}  // namespace heed
