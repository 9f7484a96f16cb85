// The matrix products of attention on vector units. A kernel is a choice of how factors are laid
// out and multiplied; this one serves every width, every value and both precisions.
#pragma once

#include "autograd/kernels/attention/blocks.h"

namespace heed::detail {

struct VectorKernel {
  // Measured on head widths 32 and 64: a block of scores and what it is made from stay in the first
  // two levels of cache, and short sequences fit one block. Where tiles have 6 rows, both are a
  // multiple of 6. Both are part of the bits.
  static constexpr int64_t query_block = tile_rows == 6 ? 96 : 64;
  static constexpr int64_t key_block = tile_rows == 6 ? 192 : 128;
  static constexpr bool finite_only = false;
  static constexpr bool scaled = false;  // whether products of weights use `largest`

  // K or V, transposed: the right factor of scores.
  class Columns {
   public:
    Columns(ScratchArena& arena, int64_t rows, int64_t width)
        : width_(width), panels_(arena.take(round_up(rows, panel) * width)) {}

    // Packs the transpose of factor * from (rows, width) as columns from `first` on, a multiple of
    // `panel`. Returns false, here and in Rows, if a kernel cannot keep the digits of all rows.
    bool pack(int64_t first, int64_t rows, real factor, const real* from, int64_t from_step) {
      pack_panels(rows, width_, factor, from, from_step, panels_ + first * width_);
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
    Rows(ScratchArena& arena, int64_t rows, int64_t width)
        : width_(width), rows_(arena.take(rows * padded_width(width))) {}

    // Packs factor * from (rows, width) as rows [first, first + rows).
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

  // How many rows of memory an accumulated result of `rows` rows needs: products write whole tiles.
  static int64_t padded_rows(int64_t rows) { return rows; }

  using Queries = Rows;         // left factors of scores
  using QueriesAndRows = Rows;  // the same, and what weights are multiplied by

  // Nothing is kept between products.
  struct Work {
    explicit Work(ScratchArena&) {}
  };
  struct Session {};

  // Computes a block of scores: queries, beginning at row `row`, times columns, beginning at
  // `column`. Columns that no row of a tile sees are skipped. Then calls body(r, n, factor) for
  // every row r: its numbers [block.start(r), n) in C were computed, and factor * C are the scores.
  template <class Body>
  static void score_rows(const ScoreBlock& block, const Queries& queries, int64_t row,
                         const Columns& columns, int64_t column, real* c, Body&& body) {
    score_product(block, queries, row, columns, column, c);
    for_tiles(block, [&](int64_t first, int64_t rows, int64_t, int64_t n) {
      for (int64_t r = first; r < first + rows; ++r) {
        body(r, n, real{1});
      }
    });
  }

  // C (rows, width) += A (rows, cols) B (cols, width), over the columns that the rows of A see.
  // Rows of A have padded_cols() numbers; B begins at row `row`. No finite number of A is larger
  // than `largest`, so a kernel may use it as the scale of all of A.
  static void add_weighted_rows(const ScoreBlock& block, const real* a, real largest, const Rows& b,
                                int64_t row, const Work& work, real* c);

  // C (cols, width) += A^T (cols, rows) B (rows, width); otherwise as above.
  static void add_weighted_columns(const ScoreBlock& block, const real* a, real largest,
                                   const Rows& b, int64_t row, const Work& work, real* c);

 private:
  // Calls body(first row, rows, start, n) for each tile of scores. The tile computes columns
  // [start, n): those that some row of it sees, rounded.
  template <class Body>
  static void for_tiles(const ScoreBlock& block, Body&& body) {
    for_row_tiles(most_tile_rows(padded_width(block.problem.width)), block.rows,
                  [&](int64_t first, int64_t height) {
                    body(first, height, block.start(first),
                         round_up(block.limit(first + height - 1), key_step));
                  });
  }

  static void score_product(const ScoreBlock& block, const Queries& queries, int64_t row,
                            const Columns& columns, int64_t column, real* c);
};

}  // namespace heed::detail
