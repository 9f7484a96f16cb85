// exp, log, tanh and erf of many numbers at once, through the vector routines of the C library
// (glibc's libmvec: 0.2 to 0.5 ns a number, 1 to 4 units in the last place, right for infinities
// and NaN). No -ffast-math anywhere. Elsewhere (Clang, other C libraries) the scalar functions run.
//
// The vector routine and the scalar function differ in the last bit, so a loop with a scalar
// remainder gives a number other bits at another position. Hence two ways, and no third:
//   vexp(x, y, n), vector_map(x, y, n, f)   any length: whole blocks, the last one padded. The bits
//                                           of y[i] follow from x[i] alone.
//   fast_exp(v)                             inside f of vector_map, or under `#pragma omp simd` in
//                                           a loop whose trip count is a compile-time constant and
//                                           a multiple of vector_block; so is exp_of(v),
//                                           faster, for v up to about 80.
// Use std::exp for single numbers.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <type_traits>
#include <utility>

#include "autograd/base/real.h"

// tanhf and erff are in libmvec since glibc 2.35.
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__)
#define HEED_LIBMVEC __GLIBC_PREREQ(2, 35)
#else
#define HEED_LIBMVEC 0
#endif

namespace heed {

// a b + c: rounded once where the instruction set fuses the two (AVX2, AVX-512, Arm), as PyTorch's
// vector kernels do, else twice, since std::fma would be a call. The compiler fuses nothing itself
// (-ffp-contract=off), so that two ways to one number, a loop and its tail, round alike.
[[gnu::always_inline]] inline real multiply_add(real a, real b, real c) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  return std::fma(a, b, c);
#else
  return a * b + c;
#endif
}

namespace detail {

using Integer = std::conditional_t<is_float64, int64_t, int32_t>;

// What exp_of needs of a number. simd.h has the same for a vector.
template <class V>
struct Arithmetic {
  using Bits = std::make_unsigned_t<Integer>;  // unsigned integers as wide as the numbers in V
  [[gnu::always_inline]] static V multiply_add(V a, V b, V c) {
    return heed::multiply_add(a, b, c);
  }
};

// 1 / (2 k!)
inline constexpr auto half_of_inverse_factorials = [] {
  std::array<real, 14> values{};
  double factorial = 1;
  for (size_t k = 0; k < values.size(); ++k) {
    factorial *= k == 0 ? 1 : static_cast<double>(k);
    values[k] = static_cast<real>(0.5 / factorial);
  }
  return values;
}();

// exp(x) for x up to about 80, within two units in the last place; 0 where the result would be
// subnormal. The vector routines of the C library are slow for lanes of -infinity, which is what
// hidden scores are. This function is not, and there is no call that empties the registers.
//
//   exp(x) = 2^n exp(r),  n = x / ln 2 rounded,  |r| <= ln 2 / 2, exp(r) by its Taylor series
//
// Adding 1.5 * 2^(bits of the fraction) rounds to a whole number and leaves it in the lowest bits.
// With the bias of exponents added as well, shifting them gives 2^(n+1), by which half of the
// series is multiplied: the series of a NaN stays NaN, whatever the bits of 2^(n+1) then are. The
// bias of 2^(n+1) is even, so that ties round as without it. ln 2 comes in two parts, the first
// with zeros at its end so that n times it is exact.
//
// V is a number, or a Vector of simd.h. A loop over numbers becomes one over vectors when nothing
// in it is a call or a loop, also where little is inlined (-O1): hence the attribute and the fold.
template <class V>
[[gnu::always_inline]] inline V exp_of(V x) {
  using Bits = typename Arithmetic<V>::Bits;
  constexpr int fraction_bits = std::numeric_limits<real>::digits - 1;
  constexpr int64_t bias = std::numeric_limits<real>::max_exponent;  // of 2^(n+1)
  constexpr real rounder = static_cast<real>((int64_t{3} << (fraction_bits - 1)) + bias);
  constexpr real inverse_ln2 = static_cast<real>(1.44269504088896340736);
  constexpr real ln2_high = static_cast<real>(is_float64 ? 0x1.62e42fefa38p-1 : 0x1.62e4p-1);
  constexpr real ln2_low =
      static_cast<real>(is_float64 ? 0x1.ef35793c7673p-45 : 0x1.7f7d1cf79abcap-20);
  constexpr real smallest = static_cast<real>(is_float64 ? -708 : -87);
  constexpr int terms = is_float64 ? 13 : 7;

  using With = Arithmetic<V>;
  const V none = {};  // none + c is c in every lane
  const V shifted = With::multiply_add(x, none + inverse_ln2, none + rounder);
  const V n = shifted - rounder;
  const V above = With::multiply_add(n, none - ln2_high, x);
  const V r = With::multiply_add(n, none - ln2_low, above);
  V half = none + half_of_inverse_factorials[terms];
  const auto add_terms = [&]<size_t... k>(std::index_sequence<k...>) {
    ((half = With::multiply_add(half, r, none + half_of_inverse_factorials[terms - 1 - k])), ...);
  };
  add_terms(std::make_index_sequence<terms>());
  const Bits exponent = std::bit_cast<Bits>(shifted) << fraction_bits;
  return x < smallest ? none : half * std::bit_cast<V>(exponent);
}

}  // namespace detail

using detail::exp_of;

// Numbers in a block: one AVX-512 register, two of AVX2, four of SSE.
inline constexpr int64_t vector_block = 64 / static_cast<int64_t>(sizeof(real));

#if HEED_LIBMVEC
// Names of our own for the functions of the C library: only loops that ask for fast_exp are
// vectorised, while std::exp in an ordinary loop stays the scalar function in every iteration.
// Under the attribute the compiler looks for _ZGVeN16v_expf, _ZGVdN8v_expf or _ZGVbN4v_expf.
#define HEED_VECTOR_FUNCTION(type, ours, name) \
  __attribute__((simd("notinbranch"), const)) type ours(type) noexcept __asm__(name)
HEED_VECTOR_FUNCTION(float, fast_exp, "expf");
HEED_VECTOR_FUNCTION(double, fast_exp, "exp");
HEED_VECTOR_FUNCTION(float, fast_log, "logf");
HEED_VECTOR_FUNCTION(double, fast_log, "log");
HEED_VECTOR_FUNCTION(float, fast_tanh, "tanhf");
HEED_VECTOR_FUNCTION(double, fast_tanh, "tanh");
HEED_VECTOR_FUNCTION(float, fast_erf, "erff");
HEED_VECTOR_FUNCTION(double, fast_erf, "erf");
#undef HEED_VECTOR_FUNCTION
#else
inline real fast_exp(real v) { return std::exp(v); }
inline real fast_log(real v) { return std::log(v); }
inline real fast_tanh(real v) { return std::tanh(v); }
inline real fast_erf(real v) { return std::erf(v); }
#endif

// Of the normal distribution at v:
//   below   = Phi(v) = 1/2 (1 + erf(v / sqrt 2))
//   density = phi(v) = e^(-v^2/2) / sqrt(2 pi)
struct Normal {
  real below, density;
};

// In float32 both are computed from one exponential, in half the time of exp and erf:
//   Phi(-t) = e^(-t^2/2) s R(s) for t >= 0,  s = 1 / (1 + 0.26 t)
// R is a polynomial, in the form of Hastings 1955, with a relative error of 2.2e-8;
// tools/reference/normal_tail.py computes the coefficients. A small Phi(-t) keeps its precision,
// which 1 + erf would cancel. Inlined for the same reason as exp_of.
[[gnu::always_inline]] inline Normal normal_at(real v) {
  constexpr real inv_sqrt2 = std::numbers::sqrt2_v<real> / 2;
  const real exponential = exp_of(real(-0.5) * v * v);
  const real density = inv_sqrt2 * std::numbers::inv_sqrtpi_v<real> * exponential;
  if constexpr (is_float64) {
    return {real(0.5) * (1 + fast_erf(v * inv_sqrt2)), density};
  } else {
    const real s = 1 / multiply_add(real(0.26), std::abs(v), 1);
    real series = real(0.03078363322);
    series = multiply_add(series, s, real(-0.1541895075));
    series = multiply_add(series, s, real(0.2543182347));
    series = multiply_add(series, s, real(-0.1542068095));
    series = multiply_add(series, s, real(0.1632206346));
    series = multiply_add(series, s, real(0.05004690433));
    series = multiply_add(series, s, real(0.1032854237));
    series = multiply_add(series, s, real(0.1029802138));
    series = multiply_add(series, s, real(0.1037612619));
    const real tail = exponential * s * series;
    return {v > 0 ? 1 - tail : tail, density};
  }
}

// y[j] = f(x[j]) for a block; y may be x. Inlined, Clang turns the padded block below into calls of
// the scalar function, and the others into calls of the vector routine.
template <class F>
#ifdef __clang__
[[gnu::noinline]]
#endif
inline void
map_block(const real* x, real* y, F f) {
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

// y[i] = f(x[i]).value and z[i] = f(x[i]).derivative; y or z may be x. As vector_map.
template <class F>
inline void vector_fork(const real* x, int64_t n, F f, real* y, real* z) {
  const auto block = [&f](const real* from, real* value, real* derivative) {
#pragma omp simd
    for (int64_t j = 0; j < vector_block; ++j) {
      const auto both = f(from[j]);
      value[j] = both.value;
      derivative[j] = both.derivative;
    }
  };
  int64_t i = 0;
  for (; i + vector_block <= n; i += vector_block) {
    block(x + i, y + i, z + i);
  }
  if (i < n) {
    alignas(64) real from[vector_block] = {}, value[vector_block], derivative[vector_block];
    std::copy(x + i, x + n, from);
    block(from, value, derivative);
    std::copy_n(value, n - i, y + i);
    std::copy_n(derivative, n - i, z + i);
  }
}

// put(i, f(a[i], b[i])) for i in [begin, end); the last block is padded, as above.
template <class F, class Put>
inline void vector_zip(const real* a, const real* b, int64_t begin, int64_t end, F f, Put put) {
  int64_t i = begin;
  for (; i + vector_block <= end; i += vector_block) {
#pragma omp simd
    for (int64_t j = 0; j < vector_block; ++j) {
      put(i + j, f(a[i + j], b[i + j]));
    }
  }
  if (i < end) {
    alignas(64) real tail_a[vector_block] = {}, tail_b[vector_block] = {}, tail[vector_block];
    std::copy(a + i, a + end, tail_a);
    std::copy(b + i, b + end, tail_b);
#pragma omp simd
    for (int64_t j = 0; j < vector_block; ++j) {
      tail[j] = f(tail_a[j], tail_b[j]);
    }
    for (int64_t j = 0; j < end - i; ++j) {
      put(i + j, tail[j]);
    }
  }
}

inline void vexp(const real* x, real* y, int64_t n) {
  vector_map(x, y, n, [](real v) { return fast_exp(v); });
}

}  // namespace heed
