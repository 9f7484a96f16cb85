#include "autograd/attention_blocks.h"

namespace heed::detail {

bool ScoreBlock::hidden() const {
  if (limit(rows - 1) == 0) {
    return true;
  }
  if (!problem.mask) {
    return false;
  }
  const int64_t rows_of_mask = problem.mask.rank() == 2 ? 1 : rows;
  for (int64_t r = 0; r < rows_of_mask; ++r) {
    const uint8_t* may = problem.mask_row(b, h, i0 + r) + j0;
    if (std::any_of(may, may + cols, [](uint8_t m) { return m != 0; })) {
      return false;
    }
  }
  return true;
}

void score_product(const ScoreBlock& block, int64_t depth, const real* a, int64_t step,
                   const real* panels, real* c) {
  for (int64_t p = 0; p < block.cols; p += panel) {
    block.for_tiles([&](int64_t first, int64_t rows, int64_t n) {
      if (n > p) {
        tile_product(rows, std::min(n - p, panel), depth, {a + first * step, step, 1},
                     panels + p * depth, panel, c + first * block.padded_cols() + p,
                     block.padded_cols(), false);
      }
    });
  }
}

void hide(const ScoreBlock& block, int64_t r, int64_t n, real* scores) {
  const int64_t seen = block.limit(r);
  if (block.problem.mask) {
    const uint8_t* may = block.problem.mask_row(block.b, block.h, block.i0 + r) + block.j0;
#pragma omp simd
    for (int64_t c = 0; c < seen; ++c) {
      scores[c] = may[c] != 0 ? scores[c] : hidden_score;
    }
  }
  const Vector hidden = Vector{} + hidden_score;
  for (int64_t c = seen / lanes * lanes; c < n; c += lanes) {
    store(scores + c, counting(c) < static_cast<Integer>(seen) ? load(scores + c) : hidden);
  }
  for (int64_t c = n; c < block.padded_cols(); c += lanes) {
    store(scores + c, Vector{});
  }
}

void add_weighted_rows(const ScoreBlock& block, const real* a, int64_t columns, const real* b,
                       real* c) {
  for_row_tiles(most_tile_rows(columns), block.rows, [&](int64_t first, int64_t rows) {
    tile_product(rows, columns, block.limit(first + rows - 1),
                 {a + first * block.padded_cols(), block.padded_cols(), 1}, b, columns,
                 c + first * columns, columns, true);
  });
}

void add_weighted_columns(const ScoreBlock& block, const real* a, int64_t columns, const real* b,
                          real* c) {
  for_row_tiles(most_tile_rows(columns), block.cols, [&](int64_t first, int64_t cols) {
    const int64_t r = block.first_row(first);
    tile_product(cols, columns, block.rows - r,
                 {a + r * block.padded_cols() + first, 1, block.padded_cols()}, b + r * columns,
                 columns, c + first * columns, columns, true);
  });
}

}  // namespace heed::detail
