// What AMX's tiles hold of float32 numbers. A number is the sum of `parts` shorter ones, and a
// product that of the `products` largest products of parts: with y likewise,
//
//   Bfloat16x3: x y = x0 y0 + (x0 y1 + x1 y0) + (x0 y2 + x1 y1 + x2 y0)
//   Float16x2:  x y = x0 y0 + (x0 y1 + x1 y0)
//
// Both leave out less than 2^-22 of it. Only for builds with HEED_HAS_AMX.
//
// A tile is 16 rows of 16 pairs. The product of two tiles adds A[i][p] . B[p][j] over the pairs p
// to C[i][j], so a row of A's tile is a row of A, and a row of B's tile is two rows of B. Which two
// does not matter as long as A agrees: each format has the pairs that cost it least.
#pragma once

#include <immintrin.h>

#include <bit>
#include <cmath>
#include <cstdint>

#include "autograd/kernels/simd/register_tile.h"

namespace heed::detail {

inline constexpr int64_t tile_side = 16;
inline constexpr int64_t block_side = 2 * tile_side;

// 32 lines (rows of A or columns of B) by 32 of the depth.
template <int parts>
struct SplitTiles {
  alignas(64) uint32_t tiles[parts][2][tile_side][tile_side];
};

// Three bfloat16 of 8 bits each, of float32's range. AMX counts numbers below 2^-126 as 0, parts of
// others among them: factors below 2^-100 keep fewer digits.
struct Bfloat16x3 {
  static constexpr int parts = 3;
  static constexpr int products = 6;
  static constexpr bool scaled = false;
  static constexpr bool adjacent_pairs = false;  // k and k + 16
  using Step = SplitTiles<parts>;

  // What a loop of split_pair needs or gathers.
  struct State {
    Vector check{};  // NaN once a number was infinite or NaN
    bool finite() const { return !std::isnan(sum_of_lanes(check)); }
  };

  // Row `row` of the tiles of all parts: lanes of `low` and `high` are pairs. The first part is
  // rounded, the second cut off and the third what is left.
  [[gnu::always_inline]] static void split_pair(Vector low, Vector high, int64_t row, int64_t half,
                                                Step& to, State& state) {
    constexpr uint32_t upper = 0xffff0000;
    const auto pair = [&](int part, BitsVector l, BitsVector h) {
      *reinterpret_cast<BitsVector*>(to.tiles[part][half][row]) = (h & upper) | l >> 16;
    };
    const auto take = [&](int part, uint32_t rounding) {
      const BitsVector l = (std::bit_cast<BitsVector>(low) + rounding) & upper;
      const BitsVector h = (std::bit_cast<BitsVector>(high) + rounding) & upper;
      pair(part, l, h);
      low -= std::bit_cast<Vector>(l);
      high -= std::bit_cast<Vector>(h);
    };
    take(0, 0x8000);
    take(1, 0);
    pair(2, std::bit_cast<BitsVector>(low), std::bit_cast<BitsVector>(high));
    state.check += low * high;
  }

  // Registers 0 to 3, the quarters of a block of C, += registers 4, 5 (A) times 6, 7 (B).
  static void multiply_tiles() {
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }

  // The smallest products first; load_a(part), load_b(part) and multiply().
  template <class LoadA, class LoadB, class Multiply>
  [[gnu::always_inline]] static void multiply_step(LoadA&& load_a, LoadB&& load_b,
                                                   Multiply&& multiply) {
    load_a(0), load_b(2), multiply();
    load_b(1), multiply();
    load_a(1), multiply();
    load_b(0), multiply();
    load_a(2), multiply();
    load_a(0), multiply();
  }
};

// Two float16 of 11 bits each, on CPUs with AMX-FP16. Their range is float16's: each line is
// multiplied by a power of two that makes its largest number one of [2^14, 2^15), and sums are
// divided by those of their row and column. Numbers down to 2^-17 of the largest of their line keep
// all digits, and no error is larger than 2^-38 of it.
struct Float16x2 {
  static constexpr int parts = 2;
  static constexpr int products = 3;
  static constexpr bool scaled = true;
  static constexpr bool adjacent_pairs = true;  // k and k + 1
  struct Step : SplitTiles<parts> {
    real undo[block_side];  // what a product's row or column is to be multiplied by, see LineScales
  };

  // Vectors that compilers would make anew for every pair.
  struct State {
    State() { __asm__("" : "+v"(left), "+v"(right), "+v"(half_unit), "+v"(kept)); }
    static bool finite() { return true; }
    BitsVector left = {0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23};
    BitsVector right = left + 8;
    BitsVector half_unit = 0x1000 + BitsVector{}, kept = 0xffffe000 + BitsVector{};
  };

  // From low and high: low[0], high[0], low[1], high[1], ... over both vectors.
  [[gnu::always_inline]] static void interleave(Vector& low, Vector& high, const State& state) {
    const auto pairs = [&](BitsVector places) {
      return static_cast<Vector>(_mm512_permutex2var_ps(
          static_cast<__m512>(low), std::bit_cast<__m512i>(places), static_cast<__m512>(high)));
    };
    const Vector first = pairs(state.left);
    high = pairs(state.right);
    low = first;
  }

  // Row `row` of the tiles of both parts: 32 numbers in the order of the tile.
  [[gnu::always_inline]] static void split_pair(Vector first, Vector second, int64_t row,
                                                int64_t half, Step& to, const State& state) {
    const auto put = [&](int part, Vector a, Vector b) {
      const auto to_float16 = [](Vector v) {
        constexpr __mmask16 all = 0xffff;  // unmasked, GCC 12 warns of its own header
        return _mm512_maskz_cvtps_ph(all, static_cast<__m512>(v), _MM_FROUND_TO_NEAREST_INT);
      };
      auto* const place = reinterpret_cast<__m256i*>(to.tiles[part][half][row]);
      _mm256_store_si256(place, to_float16(a));
      _mm256_store_si256(place + 1, to_float16(b));
    };
    const auto rounded = [&](Vector v) {
      return std::bit_cast<Vector>((std::bit_cast<BitsVector>(v) + state.half_unit) & state.kept);
    };
    const Vector a = rounded(first), b = rounded(second);
    put(0, a, b);
    put(1, first - a, second - b);
  }

  // The bytes are those of
  //   tdpfp16ps %tmm6, %tmm4, %tmm0    tdpfp16ps %tmm7, %tmm4, %tmm1
  //   tdpfp16ps %tmm6, %tmm5, %tmm2    tdpfp16ps %tmm7, %tmm5, %tmm3
  // which GCC 12 has no intrinsic for and Clang 14's assembler does not know.
  static void multiply_tiles() {
    __asm__ volatile(
        ".byte 0xc4, 0xe2, 0x4b, 0x5c, 0xc4, 0xc4, 0xe2, 0x43, 0x5c, 0xcc\n\t"
        ".byte 0xc4, 0xe2, 0x4b, 0x5c, 0xd5, 0xc4, 0xe2, 0x43, 0x5c, 0xdd");
  }

  template <class LoadA, class LoadB, class Multiply>
  [[gnu::always_inline]] static void multiply_step(LoadA&& load_a, LoadB&& load_b,
                                                   Multiply&& multiply) {
    load_a(0), load_b(1), multiply();
    load_b(0), multiply();
    load_a(1), multiply();
  }
};

}  // namespace heed::detail
