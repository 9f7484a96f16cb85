#include "autograd/kernels/attention/tile.h"

#include <algorithm>

namespace heed::detail {

void tile_product(int64_t rows, int64_t columns, int64_t depth, const TileFactor& a, const real* b,
                  int64_t ldb, real* c, int64_t ldc, bool add) {
  const auto which = static_cast<size_t>(rows - 1);
  int64_t j = 0;
  for (constexpr int v = wide_tile_vectors; rows <= wide_tile_rows && j + v * lanes <= columns;
       j += v * lanes) {
    register_tiles<v, wide_tile_rows, false>[which](depth, a, b + j, ldb, c + j, ldc, add, {});
  }
  for (; j + 2 * lanes <= columns; j += 2 * lanes) {
    register_tiles<2, tile_rows, false>[which](depth, a, b + j, ldb, c + j, ldc, add, {});
  }
  if (j < columns) {
    register_tiles<1, tile_rows, false>[which](depth, a, b + j, ldb, c + j, ldc, add, {});
  }
}

void pack_rows(int64_t rows, int64_t width, real factor, const real* from, int64_t from_step,
               real* to) {
  const int64_t to_step = padded_width(width);
  for (int64_t r = 0; r < rows; ++r, from += from_step, to += to_step) {
#pragma omp simd
    for (int64_t k = 0; k < width; ++k) {
      to[k] = factor * from[k];
    }
    std::fill(to + width, to + to_step, real{0});
  }
}

void pack_panels(int64_t rows, int64_t width, real factor, const real* from, int64_t from_step,
                 real* to) {
  for (int64_t r = 0; r < rows; r += panel, from += panel * from_step, to += panel * width) {
    transpose_padded(std::min(panel, rows - r), width, factor, from, from_step, to, panel);
  }
}

}  // namespace heed::detail
