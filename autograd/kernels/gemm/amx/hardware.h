// The functions of instructions.h as instructions of the CPU.
#pragma once

#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "autograd/kernels/gemm/amx/vector.h"

namespace heed::detail {

// GCC's intrinsics for tiles do not tell the compiler what they read, so it drops stores to a
// variable that nothing else reads. Between a splitter's stores to memory of the heap and their use
// this is not needed, and cost 2%.
inline void before_tile_loads(const void* memory) {
  __asm__ volatile("" : : "r"(memory) : "memory");
}

inline void configure_tiles() {
  struct alignas(64) {
    uint8_t palette = 1, start_row = 0;
    uint8_t reserved[14] = {};
    uint16_t row_bytes[16] = {};
    uint8_t rows[16] = {};
  } config;
  std::fill_n(config.row_bytes, 8, uint16_t{tile_row_bytes});
  std::fill_n(config.rows, 8, uint8_t{tile_side});
  before_tile_loads(&config);
  _tile_loadconfig(&config);
}

inline void release_tiles() { _tile_release(); }

inline void load_a_tiles(const void* upper, const void* lower) {
  _tile_loadd(4, upper, tile_row_bytes);
  _tile_loadd(5, lower, tile_row_bytes);
}

inline void load_b_tiles(const void* left, const void* right) {
  _tile_loadd(6, left, tile_row_bytes);
  _tile_loadd(7, right, tile_row_bytes);
}

inline void zero_c_tiles() {
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
}

inline void load_c_tiles(const real* c, size_t row_bytes) {
  const real* const lower = c + tile_side * row_bytes / sizeof(real);
  _tile_loadd(0, c, row_bytes);
  _tile_loadd(1, c + tile_side, row_bytes);
  _tile_loadd(2, lower, row_bytes);
  _tile_loadd(3, lower + tile_side, row_bytes);
}

inline void store_c_tiles(real* c, size_t row_bytes) {
  real* const lower = c + tile_side * row_bytes / sizeof(real);
  _tile_stored(0, c, row_bytes);
  _tile_stored(1, c + tile_side, row_bytes);
  _tile_stored(2, lower, row_bytes);
  _tile_stored(3, lower + tile_side, row_bytes);
}

inline void add_bfloat16_products() {
  _tile_dpbf16ps(0, 4, 6);
  _tile_dpbf16ps(1, 4, 7);
  _tile_dpbf16ps(2, 5, 6);
  _tile_dpbf16ps(3, 5, 7);
}

// The bytes are those of
//   tdpfp16ps %tmm6, %tmm4, %tmm0    tdpfp16ps %tmm7, %tmm4, %tmm1
//   tdpfp16ps %tmm6, %tmm5, %tmm2    tdpfp16ps %tmm7, %tmm5, %tmm3
// for which GCC 12 has no intrinsic; Clang 14's assembler does not know the instruction.
inline void add_float16_products() {
  __asm__ volatile(
      ".byte 0xc4, 0xe2, 0x4b, 0x5c, 0xc4, 0xc4, 0xe2, 0x43, 0x5c, 0xcc\n\t"
      ".byte 0xc4, 0xe2, 0x4b, 0x5c, 0xd5, 0xc4, 0xe2, 0x43, 0x5c, 0xdd");
}

inline void store_as_float16(void* to, TileVector v) {
  constexpr __mmask16 all = 0xffff;  // the unmasked intrinsic makes GCC 12 warn of its own header
  _mm256_store_si256(static_cast<__m256i*>(to),
                     _mm512_maskz_cvtps_ph(all, static_cast<__m512>(v), _MM_FROUND_TO_NEAREST_INT));
}

inline TileVector pick(TileVector a, TileBits lanes_of_both, TileVector b) {
  return static_cast<TileVector>(_mm512_permutex2var_ps(
      static_cast<__m512>(a), std::bit_cast<__m512i>(lanes_of_both), static_cast<__m512>(b)));
}

inline TileVector load_first(int64_t n, const real* from) {
  const auto mask = static_cast<__mmask16>((uint32_t{1} << n) - 1);
  return static_cast<TileVector>(_mm512_maskz_loadu_ps(mask, from));
}

inline TileVector larger_magnitude(TileVector a, TileVector b) {
  constexpr int positive_of_larger_magnitude = 0b1011;
  return static_cast<TileVector>(_mm512_range_ps(static_cast<__m512>(a), static_cast<__m512>(b),
                                                 positive_of_larger_magnitude));
}

inline bool all_up_to(TileBits bits, uint32_t most) {
  return _mm512_cmpgt_epu32_mask(std::bit_cast<__m512i>(bits),
                                 _mm512_set1_epi32(static_cast<int>(most))) == 0;
}

// Compilers would load whole rows and shuffle them; quads from memory need no shuffling.
inline TileVector load_quads(const real* from, int64_t step) {
  const auto quad = [&](int64_t row) { return _mm_loadu_ps(from + row * step); };
  __m512 quads = _mm512_castps128_ps512(quad(0));
  quads = _mm512_insertf32x4(quads, quad(4), 1);
  quads = _mm512_insertf32x4(quads, quad(8), 2);
  return static_cast<TileVector>(_mm512_insertf32x4(quads, quad(12), 3));
}

inline void keep_in_registers(TileBits& a, TileBits& b, TileBits& c, TileBits& d) {
  __asm__("" : "+v"(a), "+v"(b), "+v"(c), "+v"(d));
}

}  // namespace heed::detail
