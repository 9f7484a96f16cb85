// The arithmetic under attention: small matrix products held in registers, on operands that were
// packed into scratch memory.
//
// A register tile is up to tile_rows rows of C by two vectors or wide_tile_rows rows by four: a
// step along the depth loads two or four vectors of B and a number of A a row. The wide one does
// more multiply-adds a load, 24 with 10 instead of 28 with 16.
#pragma once

#include <cstdint>

#include "autograd/kernels/simd/register_tile.h"

namespace heed::detail {

inline constexpr int tile_rows = vector_registers == 32 ? 14 : 6;  // 28 or 12 registers of sums
inline constexpr int wide_tile_rows = 6, wide_tile_vectors = vector_registers == 32 ? 4 : 2;

// The most rows of a tile of C with that many columns.
constexpr int most_tile_rows(int64_t columns) {
  return columns % (wide_tile_vectors * lanes) == 0 ? wide_tile_rows : tile_rows;
}

// Keys lie in panels of this many, and scores are computed for key_step of them at a time, at least
// a register tile's width. The same for every instruction set.
inline constexpr int64_t panel = 256 / static_cast<int64_t>(sizeof(real));
inline constexpr int64_t key_step = panel / 2;

// Head widths are padded with zeros to whole vectors.
inline constexpr int64_t padded_width(int64_t width) { return round_up(width, lanes); }

// Splits m rows into the fewest tiles of at most `most` rows and those as evenly as can be:
// body(first row, rows).
template <class Body>
inline void for_row_tiles(int64_t most, int64_t m, Body&& body) {
  const int64_t tiles = (m + most - 1) / most;
  for (int64_t k = 0, first = 0; k < tiles; ++k) {
    const int64_t rows = m / tiles + (k < m % tiles ? 1 : 0);
    body(first, rows);
    first += rows;
  }
}

// C (rows, columns) = A (rows, depth) B (depth, columns), added to C when `add` is set.
// rows is at most tile_rows, columns a multiple of `lanes`; rows of B and C are ldb and ldc apart.
void tile_product(int64_t rows, int64_t columns, int64_t depth, const TileFactor& a, const real* b,
                  int64_t ldb, real* c, int64_t ldc, bool add);

// to (rows, padded_width(width)) = factor * from (rows, width), the padding 0.
void pack_rows(int64_t rows, int64_t width, real factor, const real* from, int64_t from_step,
               real* to);

// The transpose of from (rows, width), times factor, in panels of `panel` rows:
// to[p][k][c] = factor * from[p * panel + c][k], 0 beyond the last row.
void pack_panels(int64_t rows, int64_t width, real factor, const real* from, int64_t from_step,
                 real* to);

}  // namespace heed::detail
