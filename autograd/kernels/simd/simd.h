// Vectors of numbers, for the kernels of attention and of matrix products. One source serves
// AVX-512, AVX2, SSE and NEON: the vector types are those of GCC and Clang, as wide as the
// instruction set a file is compiled for.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "autograd/base/real.h"
#include "autograd/kernels/vector_math.h"

namespace heed::detail {

#if defined(__AVX512F__)
inline constexpr int vector_bytes = 64;
#elif defined(__AVX__)
inline constexpr int vector_bytes = 32;
#else
inline constexpr int vector_bytes = 16;
#endif

inline constexpr int64_t lanes = vector_bytes / static_cast<int64_t>(sizeof(real));

typedef real Vector __attribute__((vector_size(vector_bytes)));
typedef Integer IntegerVector __attribute__((vector_size(vector_bytes)));
typedef std::make_unsigned_t<Integer> BitsVector __attribute__((vector_size(vector_bytes)));
template <>
struct BitsOf<Vector> {
  using Type = BitsVector;
};
template <class V>
inline constexpr int64_t lanes_of = static_cast<int64_t>(sizeof(V) / sizeof(real));
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

template <class V>
inline real sum_of_lanes(V v) {
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
template <int64_t distance, int64_t count, class V>
inline void transpose_squares(V* rows) {
  if constexpr (distance > 0) {
    constexpr int64_t n = lanes_of<V>;
    const auto swap = [&]<int64_t... k>(int64_t i, std::integer_sequence<int64_t, k...>) {
      const V a = rows[i], b = rows[i + distance];
      rows[i] = __builtin_shufflevector(a, b, ((k & distance) ? n + k - distance : k)...);
      rows[i + distance] =
          __builtin_shufflevector(a, b, ((k & distance) ? n + k : k + distance)...);
    };
#pragma GCC unroll 16
    for (int64_t i = 0; i < count; ++i) {
      if ((i & distance) == 0) {
        swap(i, std::make_integer_sequence<int64_t, n>());
      }
    }
    transpose_squares<distance / 2, count>(rows);
  }
}

// A matrix of lanes x lanes numbers, transposed in place, row i in rows[i].
inline void transpose_square(Vector* rows) { transpose_squares<lanes / 2, lanes>(rows); }

// Lane i is f over all lanes of rows[i]; as many rows as lanes, which are overwritten.
template <class V, int64_t distance = lanes_of<V> / 2, class F>
inline V fold_rows(V* rows, F f) {
  constexpr int64_t n = lanes_of<V>;
  const auto halves = [&]<int64_t... k>(V a, V b, std::integer_sequence<int64_t, k...>) {
    return f(__builtin_shufflevector(a, b, ((k & distance) ? n + k - distance : k)...),
             __builtin_shufflevector(a, b, ((k & distance) ? n + k : k + distance)...));
  };
#pragma GCC unroll 16
  for (int64_t i = 0; i < distance; ++i) {
    rows[i] = halves(rows[i], rows[i + distance], std::make_integer_sequence<int64_t, n>());
  }
  if constexpr (distance > 1) {
    return fold_rows<V, distance / 2>(rows, f);
  } else {
    return rows[0];
  }
}

}  // namespace heed::detail
