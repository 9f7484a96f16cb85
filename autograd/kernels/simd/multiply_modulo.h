// Products modulo 2^31 - 1, many at a time: the steps of the dropout stream mcg31. Includes nothing
// of this project, because random/ includes it and the other kernels depend on random/.
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

namespace heed::detail {

inline constexpr uint32_t modulus_31 = 2147483647;

#if defined(__x86_64__)
#if defined(__AVX512F__)
inline constexpr int words_bytes = 64;
#elif defined(__AVX2__)
inline constexpr int words_bytes = 32;
#else
inline constexpr int words_bytes = 16;
#endif
typedef uint32_t Words __attribute__((vector_size(words_bytes)));
typedef uint32_t StoredWords __attribute__((vector_size(words_bytes), may_alias));

// The 64-bit products of the even words, by an instruction that compilers do not find themselves.
inline Words multiply_even(Words a, Words b) {
#if defined(__AVX512F__)
  constexpr __mmask8 all = 0xFF;  // GCC 12 warns of the form without a mask
  return std::bit_cast<Words>(
      _mm512_maskz_mul_epu32(all, std::bit_cast<__m512i>(a), std::bit_cast<__m512i>(b)));
#elif defined(__AVX2__)
  return std::bit_cast<Words>(
      _mm256_mul_epu32(std::bit_cast<__m256i>(a), std::bit_cast<__m256i>(b)));
#else
  return std::bit_cast<Words>(_mm_mul_epu32(std::bit_cast<__m128i>(a), std::bit_cast<__m128i>(b)));
#endif
}

// x times a factor, modulo 2^31 - 1; `twice` is twice the factor. With u = x * factor, the upper
// word of the 64-bit product x * twice is u >> 31, and the lower word is the low 31 bits of u,
// shifted left by one. As 2^31 = 1, u is the sum of these two parts.
template <int... k>
inline Words multiply_words(Words x, Words twice, std::integer_sequence<int, k...>) {
  constexpr int n = sizeof...(k);
  const Words evens = multiply_even(x, twice);
  const Words odds = multiply_even(__builtin_shufflevector(x, x, (k | 1)...), twice);
  const Words low = __builtin_shufflevector(evens, odds, (k % 2 == 0 ? k : n + k - 1)...);
  const Words high = __builtin_shufflevector(evens, odds, (k % 2 == 0 ? k + 1 : n + k)...);
  const Words folded = (low >> 1) + high, wrapped = folded - modulus_31;
  return folded < wrapped ? folded : wrapped;
}

// to_j = from_j factor mod 2^31 - 1 for j < count, a multiple of 16; to may be from.
template <int count>
void multiply_modulo(const uint32_t* from, uint32_t factor, uint32_t* to) {
  constexpr int words = words_bytes / 4;
  const Words twice = Words{} + 2 * factor;
#pragma GCC unroll 16
  for (int j = 0; j < count; j += words) {
    *reinterpret_cast<StoredWords*>(to + j) =
        multiply_words(*reinterpret_cast<const StoredWords*>(from + j), twice,
                       std::make_integer_sequence<int, words>());
  }
}

#else

template <int count>
void multiply_modulo(const uint32_t* from, uint32_t factor, uint32_t* to) {
  for (int j = 0; j < count; ++j) {
    const uint64_t wide = uint64_t{from[j]} * factor;
    const uint32_t folded =
        (static_cast<uint32_t>(wide) & modulus_31) + static_cast<uint32_t>(wide >> 31);
    to[j] = std::min(folded, folded - modulus_31);
  }
}

#endif

}  // namespace heed::detail
