// Loops over exp, log, tanh and erf of many numbers (base/elementary.h), as vectors.
//
// The functions are the same for a number and in a loop, so there is no wrong way to call them.
//   vexp(x, y, n), vector_map(x, y, n, f)   any length: whole blocks, the last one padded, so that
//                                           no number is computed by a slow loop
//   exp_of(v)                               faster than fast_exp(v), for v up to about 80
#pragma once

#include <algorithm>
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

// y[j] = f(x[j]) for a block; y may be x.
template <class F>
inline void map_block(const real* x, real* y, F f) {
#pragma omp simd
  for (int64_t j = 0; j < vector_block; ++j) {
    y[j] = f(x[j]);
  }
}

// y[i] = f(x[i]) for i < n; y may be x. f must be free of branches to vectorise.
template <class F>
inline void vector_map(const real* x, real* y, int64_t n, F f) {
  int64_t i = 0;
  for (; i + vector_block <= n; i += vector_block) {
    map_block(x + i, y + i, f);
  }
  if (i < n) {
    alignas(64) real tail[vector_block];
    std::fill_n(tail, vector_block, real{1});  // no special case of any function here
    std::copy(x + i, x + n, tail);
    map_block(tail, tail, f);
    std::copy_n(tail, n - i, y + i);
  }
}

// y[i] = f(x[i]).value and z[i] = f(x[i]).derivative; y or z may be x.
template <class F>
inline void vector_fork(const real* x, int64_t n, F f, real* y, real* z) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const auto both = f(x[i]);
    y[i] = both.value;
    z[i] = both.derivative;
  }
}

// put(i, f(a[i], b[i])) for i in [begin, end)
template <class F, class Put>
inline void vector_zip(const real* a, const real* b, int64_t begin, int64_t end, F f, Put put) {
#pragma omp simd
  for (int64_t i = begin; i < end; ++i) {
    put(i, f(a[i], b[i]));
  }
}

inline void vexp(const real* x, real* y, int64_t n) {
  vector_map(x, y, n, [](real v) { return fast_exp(v); });
}

}  // namespace heed
