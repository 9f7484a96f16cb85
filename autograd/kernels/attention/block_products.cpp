#include "autograd/kernels/attention/block_products.h"

namespace heed::detail {

void multiply_scores(const ScoreBlock& block, const PackedRows& queries, int64_t row,
                     const PackedColumns& columns, int64_t column, real* c) {
  const real* a = queries.row(row);
  const int64_t step = queries.step(), depth = columns.width();
  for (int64_t p = 0; p < block.cols; p += panel) {
    for_score_tiles(block, [&](int64_t first, int64_t rows, int64_t start, int64_t n) {
      const int64_t from = std::max(start, p), to = std::min(n, p + panel);
      if (to > from) {
        tile_product(rows, to - from, depth, {a + first * step, step, 1},
                     columns.panels(column + p) + from - p, panel,
                     c + first * block.padded_cols() + from, block.padded_cols(), false);
      }
    });
  }
}

void add_weighted_rows(const ScoreBlock& block, const real* a, const PackedRows& b, int64_t row,
                       real* c) {
  const int64_t width = b.step();
  for_row_tiles(most_tile_rows(width), block.rows, [&](int64_t first, int64_t rows) {
    const int64_t start = block.sinks() > 0 ? 0 : block.first(first);
    tile_product(rows, width, block.limit(first + rows - 1) - start,
                 {a + first * block.padded_cols() + start, block.padded_cols(), 1},
                 b.row(row + start), width, c + first * width, width, true);
  });
}

void add_weighted_columns(const ScoreBlock& block, const real* a, const PackedRows& b, int64_t row,
                          real* c) {
  const int64_t width = b.step();
  for_row_tiles(most_tile_rows(width), block.cols, [&](int64_t first, int64_t cols) {
    const int64_t r = block.first_row(first);
    tile_product(cols, width, block.row_end(first, first + cols) - r,
                 {a + r * block.padded_cols() + first, 1, block.padded_cols()}, b.row(row + r),
                 width, c + first * width, width, true);
  });
}

}  // namespace heed::detail
