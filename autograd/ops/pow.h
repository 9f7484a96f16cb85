// Powers.
//   number  y  = x^p
//           dx = dy * p x^(p-1),  0 if p is 0                    saves x
//   tensor  y  = x^p
//           dx = dy * p x^(p-1),  0 where p is 0
//           dp = dy * y ln x,     0 where x is 0 and p >= 0      saves x, p and y
// x and p broadcast. The power of a negative x is NaN unless p is an integer. The gradient at x = 0
// is finite for p = 0 and p >= 1, as in PyTorch. A number p = 0.5 is the square root, also in that
// it is NaN at -infinity.
#pragma once

#include <cmath>
#include <limits>

#include "autograd/base/elementary.h"
#include "autograd/op.h"

namespace heed {

namespace detail {
// x^p. In float32 by way of float64, so that half a unit in the last place is lost; in float64 by
// the C library, of which another version may round the last digit otherwise.
inline real power_of(real x, real p) {
  if constexpr (is_float64) return std::pow(x, p);
  if (p == 0 || x == 1) return 1;
  const double size = std::abs(x);
  const auto y = static_cast<real>(size == 1 ? 1 : fast_exp(double{p} * fast_log(size)));
  const bool whole = p == std::trunc(p), odd = whole && std::fmod(p, real{2}) != 0;
  return !std::signbit(x) || (!odd && (whole || x == 0 || std::isinf(x))) ? y
         : odd                                                            ? -y
               : std::numeric_limits<real>::quiet_NaN();
}
// p x^(p-1)
inline real power_slope(real x, real p) { return p == 0 ? real{0} : p * power_of(x, p - 1); }
inline real root_slope(real x) { return real(0.5) / std::sqrt(x); }

inline Array power(const Array& x, real p) {
  if (p == 2) {
    return map(x, [](real v) { return v * v; });
  }
  if (p == 3) {
    return map(x, [](real v) { return v * v * v; });
  }
  if (p == real(0.5)) {
    return map(x, [](real v) { return std::sqrt(v); });
  }
  return map(x, [p](real v) { return power_of(v, p); });
}
}  // namespace detail

[[nodiscard]] inline Tensor pow(const Tensor& x, double exponent) {
  const real p = static_cast<real>(exponent);
  return record("pow", detail::power(x.value(), p), {x},
                [x = x.value(), p](const Array& dy, Grads& grads) {
                  const real *g = dy.data(), *v = x.data();
                  if (p == 2) {
                    grads.emit(0, [=](int64_t i) { return g[i] * 2 * v[i]; });
                  } else if (p == real(0.5)) {
                    grads.emit(0, [=](int64_t i) { return g[i] * detail::root_slope(v[i]); });
                  } else {
                    grads.emit(0, [=](int64_t i) { return g[i] * detail::power_slope(v[i], p); });
                  }
                });
}

[[nodiscard]] inline Tensor pow(const Tensor& x, const Tensor& p) {
  Array y = zip("pow", x.value(), p.value(), [](real u, real v) { return detail::power_of(u, v); });
  return record("pow", y, {x, p}, [x = x.value(), p = p.value(), y](const Array& dy, Grads& grads) {
    const auto times = [](real u, real v) { return u * v; };
    if (grads.needs(0)) {
      grads.add(0, zip("pow", dy, zip("pow", x, p, detail::power_slope), times));
    }
    if (grads.needs(1)) {
      const Array logarithm =
          zip("pow", x, p, [](real u, real v) { return u == 0 && v >= 0 ? real{0} : fast_log(u); });
      grads.add(1, zip("pow", dy, zip("pow", y, logarithm, times), times));
    }
  });
}

}  // namespace heed
