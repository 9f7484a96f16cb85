// Vectors of numbers, for the kernels of attention and of matrix products. One source serves
// AVX-512, AVX2, SSE and NEON: the vector types are those of GCC and Clang, as wide as the
// instruction set a file is compiled for.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "autograd/base/real.h"

namespace heed::detail {

#if defined(__AVX512F__)
inline constexpr int vector_bytes = 64;
#elif defined(__AVX__)
inline constexpr int vector_bytes = 32;
#else
inline constexpr int vector_bytes = 16;
#endif

inline constexpr int64_t lanes = vector_bytes / static_cast<int64_t>(sizeof(real));

using Integer = std::conditional_t<is_float64, int64_t, int32_t>;
typedef real Vector __attribute__((vector_size(vector_bytes)));
typedef Integer IntegerVector __attribute__((vector_size(vector_bytes)));
typedef std::make_unsigned_t<Integer> BitsVector __attribute__((vector_size(vector_bytes)));
// As it lies in memory, aligned as a single number.
typedef real StoredVector
    __attribute__((vector_size(vector_bytes), aligned(alignof(real)), may_alias));

inline Vector load(const real* from) { return *reinterpret_cast<const StoredVector*>(from); }
inline void store(real* to, Vector v) { *reinterpret_cast<StoredVector*>(to) = v; }

// f over all lanes, by halves; f takes two vectors or two numbers.
template <class V, class F>
inline real fold(V v, F f) {
  constexpr auto half = static_cast<int>(sizeof v / sizeof(real) / 2);
  if constexpr (half == 1) {
    return f(v[0], v[1]);
  } else {
    return [&]<int... k>(std::integer_sequence<int, k...>) {
      return fold(
          f(__builtin_shufflevector(v, v, k...), __builtin_shufflevector(v, v, k + half...)), f);
    }
    (std::make_integer_sequence<int, half>());
  }
}

inline constexpr auto larger = [](auto a, auto b) { return a > b ? a : b; };

inline real largest_lane(Vector v) { return fold(v, larger); }

inline real sum_of_lanes(Vector v) {
  return fold(v, [](auto a, auto b) { return a + b; });
}

// Lane k is first + k.
inline IntegerVector counting(int64_t first) {
  IntegerVector v;
#pragma GCC unroll 16
  for (int64_t k = 0; k < lanes; ++k) {
    v[k] = static_cast<Integer>(first + k);
  }
  return v;
}

// Squares of 2 * distance by 2 * distance numbers side by side in `count` vectors, each transposed
// in place. Each stage swaps the off-diagonal quarters of ever smaller squares.
template <int64_t distance, int64_t count>
inline void transpose_squares(Vector* rows) {
  if constexpr (distance > 0) {
    const auto swap = [&]<int64_t... k>(int64_t i, std::integer_sequence<int64_t, k...>) {
      const Vector a = rows[i], b = rows[i + distance];
      rows[i] = __builtin_shufflevector(a, b, ((k & distance) ? lanes + k - distance : k)...);
      rows[i + distance] =
          __builtin_shufflevector(a, b, ((k & distance) ? lanes + k : k + distance)...);
    };
#pragma GCC unroll 16
    for (int64_t i = 0; i < count; ++i) {
      if ((i & distance) == 0) {
        swap(i, std::make_integer_sequence<int64_t, lanes>());
      }
    }
    transpose_squares<distance / 2, count>(rows);
  }
}

// A matrix of lanes x lanes numbers, transposed in place, row i in rows[i].
inline void transpose_square(Vector* rows) { transpose_squares<lanes / 2, lanes>(rows); }

// Lane i is f over all lanes of rows[i]; `lanes` rows, which are overwritten.
template <int64_t distance = lanes / 2, class F>
inline Vector fold_rows(Vector* rows, F f) {
  const auto halves = [&]<int64_t... k>(Vector a, Vector b, std::integer_sequence<int64_t, k...>) {
    return f(__builtin_shufflevector(a, b, ((k & distance) ? lanes + k - distance : k)...),
             __builtin_shufflevector(a, b, ((k & distance) ? lanes + k : k + distance)...));
  };
#pragma GCC unroll 16
  for (int64_t i = 0; i < distance; ++i) {
    rows[i] = halves(rows[i], rows[i + distance], std::make_integer_sequence<int64_t, lanes>());
  }
  if constexpr (distance > 1) {
    return fold_rows<distance / 2>(rows, f);
  } else {
    return rows[0];
  }
}

// 1 / k!
inline constexpr auto inverse_factorials = [] {
  std::array<real, 14> values{};
  double factorial = 1;
  for (size_t k = 0; k < values.size(); ++k) {
    factorial *= k == 0 ? 1 : static_cast<double>(k);
    values[k] = static_cast<real>(1 / factorial);
  }
  return values;
}();

// exp(x) for x up to about 80, within two units in the last place; 0 where the result would be
// subnormal. The vector routines of the C library take a slow way for each lane of -infinity, and
// those are what hidden scores are; this has no such lanes, and no call that empties the registers.
//
//   exp(x) = 2^n exp(r),  n = x / ln 2 rounded,  |r| <= ln 2 / 2, exp(r) by its Taylor series
//
// Adding 1.5 * 2^(bits of the fraction) rounds to a whole number and leaves it in the lowest bits;
// shifted into the exponent's place and added there it multiplies by 2^n. ln 2 comes in two parts,
// the first with zeros at its end so that n times it is exact.
//
// V is Vector or a number. A loop over numbers becomes one over vectors when nothing in it is a
// call or a loop, also where little is inlined (-O1): hence the attribute and the fold.
template <class V>
[[gnu::always_inline]] inline V exp_of(V x) {
  using Bits =
      std::conditional_t<std::is_same_v<V, Vector>, BitsVector, std::make_unsigned_t<Integer>>;
  constexpr int fraction_bits = std::numeric_limits<real>::digits - 1;
  constexpr real rounder = static_cast<real>(int64_t{3} << (fraction_bits - 1));
  constexpr real inverse_ln2 = static_cast<real>(1.44269504088896340736);
  constexpr real ln2_high = static_cast<real>(is_float64 ? 0x1.62e42fefa38p-1 : 0x1.62e4p-1);
  constexpr real ln2_low =
      static_cast<real>(is_float64 ? 0x1.ef35793c7673p-45 : 0x1.7f7d1cf79abcap-20);
  constexpr real smallest = static_cast<real>(is_float64 ? -708 : -87);
  constexpr int terms = is_float64 ? 13 : 7;

  const V shifted = x * inverse_ln2 + rounder;
  const V n = shifted - rounder;
  const V r = (x - n * ln2_high) - n * ln2_low;
  V series = r * inverse_factorials[terms] + inverse_factorials[terms - 1];
  const auto add_terms = [&]<size_t... k>(std::index_sequence<k...>) {
    ((series = series * r + inverse_factorials[terms - 2 - k]), ...);
  };
  add_terms(std::make_index_sequence<terms - 1>());
  const Bits exponent = std::bit_cast<Bits>(shifted) << fraction_bits;
  const auto result = std::bit_cast<V>(std::bit_cast<Bits>(series) + exponent);
  return x < smallest ? V{} : result;
}

}  // namespace heed::detail
