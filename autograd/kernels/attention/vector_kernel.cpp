#include "autograd/kernels/attention/vector_kernel.h"

namespace heed::detail {

void VectorKernel::score_product(const ScoreBlock& block, const Queries& queries, int64_t row,
                                 const Columns& columns, int64_t column, real* c) {
  const real* a = queries.row(row);
  const int64_t step = queries.step(), depth = columns.width();
  for (int64_t p = 0; p < block.cols; p += panel) {
    for_tiles(block, [&](int64_t first, int64_t rows, int64_t n) {
      if (n > p) {
        tile_product(rows, std::min(n - p, panel), depth, {a + first * step, step, 1},
                     columns.panels(column + p), panel, c + first * block.padded_cols() + p,
                     block.padded_cols(), false);
      }
    });
  }
}

void VectorKernel::add_weighted_rows(const ScoreBlock& block, const real* a, real, const Rows& b,
                                     int64_t row, const Work&, real* c) {
  const int64_t width = b.step();
  for_row_tiles(most_tile_rows(width), block.rows, [&](int64_t first, int64_t rows) {
    tile_product(rows, width, block.limit(first + rows - 1),
                 {a + first * block.padded_cols(), block.padded_cols(), 1}, b.row(row), width,
                 c + first * width, width, true);
  });
}

void VectorKernel::add_weighted_columns(const ScoreBlock& block, const real* a, real, const Rows& b,
                                        int64_t row, const Work&, real* c) {
  const int64_t width = b.step();
  for_row_tiles(most_tile_rows(width), block.cols, [&](int64_t first, int64_t cols) {
    const int64_t r = block.first_row(first);
    tile_product(cols, width, block.rows - r,
                 {a + r * block.padded_cols() + first, 1, block.padded_cols()}, b.row(row + r),
                 width, c + first * width, width, true);
  });
}

}  // namespace heed::detail
