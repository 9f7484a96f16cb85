// What softmax, log_softmax and cross_entropy do with a row.
#pragma once

#include <algorithm>
#include <limits>
#include <numeric>

#include "autograd/kernels/simd/simd.h"

namespace heed {

inline constexpr real minus_infinity = -std::numeric_limits<real>::infinity();

// The largest of n >= 0 numbers; NaNs are passed over, nothing at all gives -infinity.
inline real row_max(const real* x, int64_t n) {
  using namespace detail;
  if (n < lanes) {
    return std::accumulate(x, x + n, minus_infinity, [](real a, real b) { return larger(b, a); });
  }
  Vector even = Vector{} + minus_infinity, odd = even;
  for (int64_t i = 0; i + 2 * lanes <= n; i += 2 * lanes) {
    even = larger(load(x + i), even);
    odd = larger(load(x + i + lanes), odd);
  }
  // What is left is within the last two vectors, which may overlap those before.
  even = larger(load(x + std::max<int64_t>(n - 2 * lanes, 0)), even);
  odd = larger(load(x + n - lanes), odd);
  return largest_lane(larger(even, odd));
}

// Whether a row whose maximum is `top` holds nothing but -infinity: nothing to attend to. A NaN is
// something, and must not be hidden.
inline bool row_is_masked(const real* x, int64_t n, real top) {
  return top == minus_infinity && std::all_of(x, x + n, [](real v) { return v == minus_infinity; });
}

// sum_i exp(x_i - top) for top >= x_i
inline real row_sum_exp(const real* x, int64_t n, real top) {
  using namespace detail;
  Vector total = {};
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    total += exp_of(load(x + i) - top);
  }
  if (i < n) {
    alignas(vector_bytes) real rest[lanes];
    std::fill(std::copy(x + i, x + n, rest), rest + lanes, minus_infinity);
    total += exp_of(load(rest) - top);
  }
  return sum_of_lanes(total);
}

}  // namespace heed
