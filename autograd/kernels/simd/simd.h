// Vectors of numbers, for the kernels of attention and of matrix products. One source serves
// AVX-512, AVX2, SSE and NEON: the vector types are those of GCC and Clang, as wide as the
// instruction set a file is compiled for. The build compiles this folder's kernels once for each
// width (tools/cmake/kernels.cmake).
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#include <cstdint>
#include <utility>

#include "autograd/base/real.h"
#include "autograd/kernels/vector_math.h"

namespace heed::detail {

#if defined(__AVX512F__)
inline constexpr int vector_bytes = 64;
#elif defined(__AVX2__)
inline constexpr int vector_bytes = 32;
#else
inline constexpr int vector_bytes = 16;
#endif

// How many vectors the register file holds: what a tile of sums must fit.
#if defined(__AVX512F__) || defined(__aarch64__)
inline constexpr int vector_registers = 32;
#else
inline constexpr int vector_registers = 16;
#endif

inline constexpr int64_t lanes = vector_bytes / static_cast<int64_t>(sizeof(real));

using Integer = Format<real>::Integer;
typedef real Vector __attribute__((vector_size(vector_bytes)));
typedef Integer IntegerVector __attribute__((vector_size(vector_bytes)));
typedef Format<real>::Bits BitsVector __attribute__((vector_size(vector_bytes)));

// a b + c in every lane, rounded as multiply_add of numbers is: once with AVX2, AVX-512 and NEON,
// twice with SSE. Never `a * b + c` where one rounding is meant: whether the compiler fuses that is
// its choice, and it may choose differently for two instances of one loop.
#if defined(__AVX512F__)
inline __m512 fused(__m512 a, __m512 b, __m512 c) { return _mm512_fmadd_ps(a, b, c); }
inline __m512d fused(__m512d a, __m512d b, __m512d c) { return _mm512_fmadd_pd(a, b, c); }
#elif defined(__AVX2__)
inline __m256 fused(__m256 a, __m256 b, __m256 c) { return _mm256_fmadd_ps(a, b, c); }
inline __m256d fused(__m256d a, __m256d b, __m256d c) { return _mm256_fmadd_pd(a, b, c); }
#elif defined(__aarch64__)
inline float32x4_t fused(float32x4_t a, float32x4_t b, float32x4_t c) { return vfmaq_f32(c, a, b); }
inline float64x2_t fused(float64x2_t a, float64x2_t b, float64x2_t c) { return vfmaq_f64(c, a, b); }
#else
inline Vector fused(Vector a, Vector b, Vector c) { return a * b + c; }
#endif
[[gnu::always_inline]] inline Vector multiply_add(Vector a, Vector b, Vector c) {
  return static_cast<Vector>(fused(a, b, c));
}

using heed::multiply_add;  // of numbers

// a in every lane. (a - 0 is a, also for a = -0, so no subtraction is left.)
[[gnu::always_inline]] inline Vector broadcast(real a) { return a - Vector{}; }

template <>
struct Arithmetic<Vector> : Format<real> {
  using Bits = BitsVector;
  [[gnu::always_inline]] static Vector multiply_add(Vector a, Vector b, Vector c) {
    return detail::multiply_add(a, b, c);
  }
};
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

// The columns of a sum in the order of row_math.h, as vectors side by side: column_vectors of them
// hold vector_block columns.
inline constexpr int64_t column_vectors = vector_block / lanes;

// The tree of row_math.h: halves of vectors, then halves of a vector.
template <int64_t vectors = column_vectors>
inline real sum_of_columns(const Vector* columns) {
  if constexpr (vectors == 1) {
    return fold(columns[0], [](auto a, auto b) { return a + b; });
  } else {
    Vector halves[vectors / 2];
    for (int64_t v = 0; v < vectors / 2; ++v) halves[v] = columns[v] + columns[v + vectors / 2];
    return sum_of_columns<vectors / 2>(halves);
  }
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

// A matrix of lanes x lanes numbers, transposed in place, row i in rows[i]. Each stage swaps the
// off-diagonal quarters of ever smaller squares.
template <int64_t distance = lanes / 2>
inline void transpose_square(Vector* rows) {
  if constexpr (distance > 0) {
    const auto swap = [&]<int64_t... k>(int64_t i, std::integer_sequence<int64_t, k...>) {
      const Vector a = rows[i], b = rows[i + distance];
      rows[i] = __builtin_shufflevector(a, b, ((k & distance) ? lanes + k - distance : k)...);
      rows[i + distance] =
          __builtin_shufflevector(a, b, ((k & distance) ? lanes + k : k + distance)...);
    };
#pragma GCC unroll 16
    for (int64_t i = 0; i < lanes; ++i) {
      if ((i & distance) == 0) {
        swap(i, std::make_integer_sequence<int64_t, lanes>());
      }
    }
    transpose_square<distance / 2>(rows);
  }
}

}  // namespace heed::detail
