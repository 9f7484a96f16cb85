// What softmax, log_softmax, cross_entropy and attention do with a row, and the order in which
// floats are added up. Wherever the engine or a layer sums numbers that lie side by side, it calls
// sum_of, row_dot or row_sum_exp, for which the vectors of the CPU make no difference:
//
//   number      0  1 ... 15 | 16 17 ... 31 | 32 ...      16 = vector_block (8 in float64)
//   column j    x_j + x_(j+16) + x_(j+32) + ...          one after the other
//   tree        c_j += c_(j+8) for j < 8, then c_j += c_(j+4) for j < 4, 2, 1; the sum is c_0
//
// Vectors lie across the columns: one register of AVX-512, two of AVX2, four of SSE or NEON hold
// them. A sum whose terms come one at a time, down a column of a matrix, has the order of its loop.
#pragma once

#include <algorithm>
#include <limits>
#include <numeric>

#include "autograd/base/sum.h"
#include "autograd/kernels/vector_math.h"

namespace heed {

inline constexpr real minus_infinity = -std::numeric_limits<real>::infinity();

// sum_i a_i b_i
inline real row_dot(const real* a, const real* b, int64_t n) {
  return sum_by_columns<real>(0, n,
                              [=](real& sum, int64_t i) { sum = multiply_add(a[i], b[i], sum); });
}

// The largest of n >= 0 numbers. NaNs are ignored; without any other number it is -infinity.
inline real row_max(const real* x, int64_t n) {
  const auto larger = [](real a, real b) { return b > a ? b : a; };
  real top[vector_block];  // of every vector_block-th number: a loop that vectorises
  std::fill_n(top, vector_block, minus_infinity);
  int64_t i = 0;
  for (; i + vector_block <= n; i += vector_block) {
#pragma omp simd
    for (int64_t j = 0; j < vector_block; ++j) {
      top[j] = larger(top[j], x[i + j]);
    }
  }
  return std::accumulate(top, top + vector_block,
                         std::accumulate(x + i, x + n, minus_infinity, larger), larger);
}

// True if a row whose maximum is `top` is all -infinity: a query with nothing to attend to. False
// for a row with a NaN, which must not be hidden.
inline bool row_is_masked(const real* x, int64_t n, real top) {
  return top == minus_infinity && std::all_of(x, x + n, [](real v) { return v == minus_infinity; });
}

// sum_i exp(x_i - top) for top >= x_i, of a row short enough to be accumulated in a `real`.
inline real piece_sum_exp(const real* x, int64_t n, real top) {
  real sums[vector_block] = {};
  const auto add = [&sums, top](const real* block) {
#pragma omp simd
    for (int64_t j = 0; j < vector_block; ++j) {
      sums[j] += exp_of(block[j] - top);
    }
  };
  int64_t i = 0;
  for (; i + vector_block <= n; i += vector_block) {
    add(x + i);
  }
  if (i < n) {
    real rest[vector_block];
    std::fill(std::copy(x + i, x + n, rest), rest + vector_block, minus_infinity);
    add(rest);
  }
  return sum_of_columns(sums);
}

// The sum of partial_sum(begin, end) over a row. Rows longer than any vocabulary are cut,
// whose sums are accumulated in double: a float loses digits as it grows, and stops growing at 2^24
// times what is added to it.
template <class PartialSum>
inline real row_sum(int64_t n, PartialSum&& partial_sum) {
  constexpr int64_t longest = int64_t{1} << 18, part = int64_t{1} << 12;
  if (n <= longest) {
    return partial_sum(0, n);
  }
  double total = 0;
  for (int64_t begin = 0; begin < n; begin += part) {
    total += static_cast<double>(partial_sum(begin, std::min(begin + part, n)));
  }
  return static_cast<real>(total);
}

// sum_i exp(x_i - top) for top >= x_i
inline real row_sum_exp(const real* x, int64_t n, real top) {
  return row_sum(
      n, [=](int64_t begin, int64_t end) { return piece_sum_exp(x + begin, end - begin, top); });
}

}  // namespace heed
