// The matrix products of attention on vector units. A kernel is a choice of how factors are laid
// out and multiplied; this one serves every width, every value and both precisions.
#pragma once

#include "autograd/kernels/attention/blocks.h"

namespace heed::detail {

struct VectorKernel {
  // Measured on head widths 32 and 64: a block of scores and what it is made from stay in the first
  // two levels of cache, and short sequences fit one block. Both are part of the bits.
  static constexpr int64_t query_block = 64;
  static constexpr int64_t key_block = 128;
  static constexpr bool finite_only = false;
  static constexpr bool scaled = false;  // whether products of weights look at `largest`

  // K or V, transposed: what scores are products with.
  class Columns {
   public:
    Columns(ScratchPieces& pieces, int64_t rows, int64_t width)
        : width_(width), panels_(pieces.take(round_up(rows, panel) * width)) {}

    // The transpose of factor * from (rows, width). False, as for Rows, where a kernel cannot keep
    // the digits of all rows.
    bool pack(int64_t rows, real factor, const real* from, int64_t from_step) {
      pack_panels(rows, width_, factor, from, from_step, panels_);
      return true;
    }
    int64_t width() const { return width_; }
    const real* panels(int64_t row) const { return panels_ + row * width_; }

   private:
    int64_t width_;
    real* panels_;
  };

  // Rows of Q, K, V or dY as they are.
  class Rows {
   public:
    Rows(ScratchPieces& pieces, int64_t rows, int64_t width)
        : width_(width), rows_(pieces.take(rows * padded_width(width))) {}

    // Rows [first, first + rows) are factor * from (rows, width).
    bool pack(int64_t first, int64_t rows, real factor, const real* from, int64_t from_step) {
      pack_rows(rows, width_, factor, from, from_step, rows_ + first * padded_width(width_));
      return true;
    }
    int64_t step() const { return padded_width(width_); }
    const real* row(int64_t r) const { return rows_ + r * step(); }

   private:
    int64_t width_;
    real* rows_;
  };

  // Products write whole rows of tiles: what is gathered over several must have as many.
  static int64_t padded_rows(int64_t rows) { return rows; }

  using Queries = Rows;         // left factors of scores
  using QueriesAndRows = Rows;  // the same, and what weights are multiplied by

  // Nothing is kept between products.
  struct Work {
    explicit Work(ScratchPieces&) {}
  };
  struct Session {};

  // C (rows, cols) times a factor of each row = queries times columns from `column` on, for those
  // that some row of a tile sees, and body(r, n, factor) for every row r, of which the first n
  // numbers were computed. The queries of the block begin at row `row`.
  template <class Body>
  static void score_rows(const ScoreBlock& block, const Queries& queries, int64_t row,
                         const Columns& columns, int64_t column, real* c, Body&& body) {
    score_product(block, queries, row, columns, column, c);
    for_tiles(block, [&](int64_t first, int64_t rows, int64_t n) {
      for (int64_t r = first; r < first + rows; ++r) {
        body(r, n, real{1});
      }
    });
  }

  // C (rows, width) += A (rows, cols) B (cols, width), A in rows of padded_cols() numbers, as far
  // as the rows of A see; B begins at row `row`. No finite number of A is beyond `largest`, a
  // number that kernels may take for the scale of all of A.
  static void add_weighted_rows(const ScoreBlock& block, const real* a, real largest, const Rows& b,
                                int64_t row, const Work& work, real* c);

  // C (cols, width) += A^T (cols, rows) B (rows, width), the same otherwise.
  static void add_weighted_columns(const ScoreBlock& block, const real* a, real largest,
                                   const Rows& b, int64_t row, const Work& work, real* c);

 private:
  // Calls body(first row, rows, n) for the tiles in which scores are computed, each for the keys
  // that some row of it sees, rounded up: columns [0, n).
  template <class Body>
  static void for_tiles(const ScoreBlock& block, Body&& body) {
    for_row_tiles(most_tile_rows(padded_width(block.problem.width)), block.rows,
                  [&](int64_t first, int64_t height) {
                    body(first, height, round_up(block.limit(first + height - 1), key_step));
                  });
  }

  static void score_product(const ScoreBlock& block, const Queries& queries, int64_t row,
                            const Columns& columns, int64_t column, real* c);
};

}  // namespace heed::detail
