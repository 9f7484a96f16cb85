// Loops over exp, log, tanh and erf of many numbers (base/elementary.h), as vectors. Each number
// has the bits that the function gives it alone. exp_of(v) is faster than fast_exp(v), for v up to
// about 80.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

#include "autograd/base/elementary.h"
#include "autograd/base/real.h"
#include "autograd/base/sum.h"

namespace heed {

// Of the normal distribution at v:
//   below   = Phi(v) = 1/2 (1 + erf(v / sqrt 2))
//   density = phi(v) = e^(-v^2/2) / sqrt(2 pi)
struct Normal {
  real below, density;
};

// Both are computed from one exponential. Inlined for the same reason as exp_of.
[[gnu::always_inline]] inline Normal normal_at(real v) {
  constexpr real inv_sqrt2 = std::numbers::sqrt2_v<real> / 2;
  const real exponential = exp_of(real(-0.5) * v * v);
  const real tail = detail::normal_below(std::abs(v), exponential);
  return {v > 0 ? 1 - tail : tail, inv_sqrt2 * std::numbers::inv_sqrtpi_v<real> * exponential};
}

// y[i] = f(x[i]) for i < n; y may be x. f must be free of branches to vectorise.
template <class F>
inline void vector_map(const real* x, real* y, int64_t n, F f) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    y[i] = f(x[i]);
  }
}

inline void vexp(const real* x, real* y, int64_t n) {
  vector_map(x, y, n, [](real v) { return fast_exp(v); });
}

}  // namespace heed
