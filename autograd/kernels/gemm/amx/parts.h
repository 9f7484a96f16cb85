// The two formats in which AMX's tiles hold float32 numbers. Only for builds with HEED_HAS_AMX.
//
// Tiles multiply 16-bit floats, which have 8 (bfloat16) or 11 (float16) of float32's 24 significant
// bits. So a float32 is split into `parts` of them. Each part is what the parts before it leave of
// the number, rounded or cut off to 16 bits:
//
//   Bfloat16x3:  x = x0 + x1 + x2       8 + 8 + 8 bits
//   Float16x2:   s x = x0 + x1          11 + 11 bits and a sign of x1; s is a power of two
//
// The product of two float32 numbers is the sum of all products x_p y_q of their parts. Part p is
// at most 2^-8p (bfloat16) or 2^-11p (float16) of part 0. So the products with p + q > 2 (bfloat16)
// or p + q > 1 (float16) are below the last bit of a float32. They are left out, less than 2^-22 of
// the result:
//
//   Bfloat16x3:  x y = x0 y0 + (x0 y1 + x1 y0) + (x0 y2 + x1 y1 + x2 y0)     6 products of tiles
//   Float16x2:   x y = x0 y0 + (x0 y1 + x1 y0)                               3 products of tiles
//
// The smallest products are accumulated first: added to each other, they lose no bits.
//
// The order of pairs. A tile's element is a pair of places (k, k') of the depth (see
// instructions.h). Which two places form a pair does not change the product as long as A and B
// agree, so each format takes the pairs that its splitting makes at the lowest cost. For 32 places:
//
//   Bfloat16x3:  (0, 16), (1, 17), ... (15, 31)   a vector of 16 pairs is made from two vectors of
//                                                 16 numbers by a shift and an "or", without moving
//                                                 a number to another lane
//   Float16x2:   (0, 1), (2, 3), ... (30, 31)     what the CPU's conversion of 16 numbers stores;
//                                                 in B the two rows of a pair are interleaved first
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "autograd/kernels/gemm/amx/instructions.h"

namespace heed::detail {

// A block of C is 2 x 2 tiles: a loaded tile of A or B then serves two products, and loading takes
// less time than multiplying. More tiles of C would need more than the eight registers.
inline constexpr int64_t block_side = 2 * tile_side;

// A split block of a factor: block_side rows of A, or columns of B, by block_side of the depth, as
// two tiles for each part.
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

  // What a loop of split_pair accumulates.
  struct State {
    TileVector check{};  // NaN once a number was infinite or NaN
    // Whether all numbers since the last call were finite.
    bool take_finite() {
      const bool finite = !std::isnan(sum_of_lanes(check));
      check = TileVector{};
      return finite;
    }
  };

  // Writes row `row` of tile `half` for all parts; pair p is (first[p], second[p]). Part 0 is
  // rounded, part 1 cut off, and part 2 is the upper half of the rest.
  [[gnu::always_inline]] static void split_pair(TileVector first, TileVector second, int64_t row,
                                                int64_t half, Step& to, State& state) {
    constexpr uint32_t upper = 0xffff0000;
    const auto put = [&](int part, TileBits a, TileBits b) {
      *reinterpret_cast<TileBits*>(to.tiles[part][half][row]) = (b & upper) | a >> 16;
    };
    const auto take = [&](int part, uint32_t rounding) {
      const TileBits a = (std::bit_cast<TileBits>(first) + rounding) & upper;
      const TileBits b = (std::bit_cast<TileBits>(second) + rounding) & upper;
      put(part, a, b);
      first -= std::bit_cast<TileVector>(a);
      second -= std::bit_cast<TileVector>(b);
    };
    take(0, 0x8000);
    take(1, 0);
    put(2, std::bit_cast<TileBits>(first), std::bit_cast<TileBits>(second));
    state.check += first * second;
  }

  static void add_tile_products() { add_bfloat16_products(); }

  // One step of the K loop: load_a(part), load_b(part), and multiply() for each product of parts.
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

// Two float16 of 11 bits each, on CPUs with AMX-FP16. Their range is float16's, so every row of A
// and column of B is multiplied by a power of two, its scale, that brings its largest number into
// [2^14, 2^15). Results are divided by the scales of their row and their column. Numbers down to
// 2^-17 of the largest of their row or column keep all digits, and no error is larger than 2^-38 of
// that largest number; scales.h says what becomes of smaller ones.
struct Float16x2 {
  static constexpr int parts = 2;
  static constexpr int products = 3;
  static constexpr bool scaled = true;
  static constexpr bool adjacent_pairs = true;  // k and k + 1
  struct Step : SplitTiles<parts> {
    real inverse_scale[block_side];  // one for each row of A or column of B
  };

  // Constants of split_pair, kept in registers: compilers would load them for every pair.
  struct State {
    State() { keep_in_registers(left, right, half_unit, kept); }
    static bool take_finite() { return true; }
    TileBits left = {0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23};
    TileBits right = left + 8;
    TileBits half_unit = 0x1000 + TileBits{}, kept = 0xffffe000 + TileBits{};  // 11 of 24 bits
  };

  // Replaces (first, second) by first[0], second[0], first[1], second[1], ... over both vectors.
  [[gnu::always_inline]] static void interleave(TileVector& first, TileVector& second,
                                                const State& state) {
    const TileVector left = pick(first, state.left, second);
    second = pick(first, state.right, second);
    first = left;
  }

  // Writes row `row` of tile `half` for both parts: 32 numbers in the order of the tile.
  [[gnu::always_inline]] static void split_pair(TileVector first, TileVector second, int64_t row,
                                                int64_t half, Step& to, const State& state) {
    const auto put = [&](int part, TileVector a, TileVector b) {
      uint32_t* const pairs = to.tiles[part][half][row];
      store_as_float16(pairs, a);
      store_as_float16(pairs + tile_side / 2, b);
    };
    const auto rounded = [&](TileVector v) {
      return std::bit_cast<TileVector>((std::bit_cast<TileBits>(v) + state.half_unit) & state.kept);
    };
    const TileVector a = rounded(first), b = rounded(second);
    put(0, a, b);
    put(1, first - a, second - b);
  }

  // What split_pair loses of a number below 2^-8, whose second part is below 2^-14 and so a
  // multiple of 2^-24, as the first one is.
  static real missing_of_small(real v) {
    const real a = std::bit_cast<real>((std::bit_cast<uint32_t>(v) + 0x1000) & 0xffffe000);
    const auto stored = [](real part) {
      constexpr real unit_is_2_to_minus_24 = 0.75F;
      return (part + unit_is_2_to_minus_24) - unit_is_2_to_minus_24;
    };
    return v - stored(a) - stored(v - a);
  }

  static void add_tile_products() { add_float16_products(); }

  template <class LoadA, class LoadB, class Multiply>
  [[gnu::always_inline]] static void multiply_step(LoadA&& load_a, LoadB&& load_b,
                                                   Multiply&& multiply) {
    load_a(0), load_b(1), multiply();
    load_b(0), multiply();
    load_a(1), multiply();
  }
};

}  // namespace heed::detail
