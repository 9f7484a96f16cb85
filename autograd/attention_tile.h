// The arithmetic under attention: small matrix products held in registers, on operands that were
// packed into scratch memory.
//
// A register tile is up to `tile_rows` rows of C by two vectors: per step along the depth it loads
// two vectors of B and one number of A a row, so that 2 * tile_rows multiply-adds follow from
// tile_rows + 2 loads, and enough of them are independent to hide the latency of the adders.
#pragma once

#include <algorithm>
#include <cstdint>

#include "autograd/register_tile.h"

namespace heed::detail {

#if defined(__AVX512F__)
inline constexpr int tile_rows = 14;  // 28 of 32 registers gather sums
#elif defined(__aarch64__)
inline constexpr int tile_rows = 14;
#else
inline constexpr int tile_rows = 6;  // 12 of 16 registers
#endif

// Keys are handled in panels of this many, at least a register tile wide. The same for every
// instruction set.
inline constexpr int64_t panel = 128 / static_cast<int64_t>(sizeof(real));

// Head widths are padded with zeros to whole vectors.
inline constexpr int64_t padded_width(int64_t width) { return round_up(width, lanes); }

template <class Body>
inline void for_row_tiles(int64_t m, Body&& body) {
  for_row_tiles(tile_rows, m, body);
}

// C (rows, columns) = A (rows, depth) B (depth, columns), added to C when `add` is set.
// rows is at most tile_rows, columns a multiple of `lanes`; rows of B and C are ldb and ldc apart.
void tile_product(int64_t rows, int64_t columns, int64_t depth, TileFactor a, const real* b,
                  int64_t ldb, real* c, int64_t ldc, bool add);

// to (rows, padded_width(width)) = factor * from (rows, width), the padding 0.
void pack_rows(int64_t rows, int64_t width, real factor, const real* from, int64_t from_step,
               real* to);

// The transpose of from (rows, width), times factor, in panels of `panel` rows:
// to[p][k][c] = factor * from[p * panel + c][k], 0 beyond the last row.
void pack_panels(int64_t rows, int64_t width, real factor, const real* from, int64_t from_step,
                 real* to);

}  // namespace heed::detail
