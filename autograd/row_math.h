// What softmax, log_softmax and cross_entropy do with a row.
#pragma once

#include <algorithm>
#include <limits>

#include "autograd/vector_math.h"

namespace heed {

inline constexpr real minus_infinity = -std::numeric_limits<real>::infinity();

// The largest of n >= 0 numbers; NaNs are passed over, nothing at all gives -infinity.
// Lanes side by side, since a single running maximum would not vectorise.
inline real row_max(const real* x, int64_t n) {
  constexpr int64_t lanes = 32;
  real top = minus_infinity;
  int64_t i = 0;
  if (n >= lanes) {
    alignas(64) real lane[lanes];
    std::copy_n(x, lanes, lane);
    for (i = lanes; i + lanes <= n; i += lanes) {
#pragma omp simd
      for (int64_t j = 0; j < lanes; ++j) {
        lane[j] = x[i + j] > lane[j] ? x[i + j] : lane[j];
      }
    }
    for (const real v : lane) {
      top = v > top ? v : top;
    }
  }
  for (; i < n; ++i) {
    top = x[i] > top ? x[i] : top;
  }
  return top;
}

// Whether a row whose maximum is `top` holds nothing but -infinity: nothing to attend to. A NaN is
// something, and must not be hidden.
inline bool row_is_masked(const real* x, int64_t n, real top) {
  return top == minus_infinity && std::all_of(x, x + n, [](real v) { return v == minus_infinity; });
}

// sum_i exp(x_i - top)
inline real row_sum_exp(const real* x, int64_t n, real top) {
  real total = 0;
  alignas(64) real tail[vector_block];
  for (int64_t i = 0; i < n; i += vector_block) {
    const real* block = x + i;
    if (n - i < vector_block) {
      std::fill_n(tail, vector_block, minus_infinity);
      std::copy_n(x + i, n - i, tail);
      block = tail;
    }
#pragma omp simd reduction(+ : total)
    for (int64_t j = 0; j < vector_block; ++j) {
      total += fast_exp(block[j] - top);
    }
  }
  return total;
}

}  // namespace heed
