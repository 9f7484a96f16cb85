// The matrix products of a block of attention, on factors that were packed into scratch memory.
#pragma once

#include "autograd/kernels/attention/blocks.h"

namespace heed::detail {

// Measured on head widths 32 and 64: a block of scores and what it is made from stay in the first
// two levels of cache, and short sequences fit one block. Multiples of 6, the rows of most tiles.
// Both are part of the bits, and the same for every vector width.
inline constexpr int64_t query_block = 96;
inline constexpr int64_t key_block = 192;

// K or V, transposed: the right factor of scores.
class PackedColumns {
 public:
  PackedColumns(ScratchArena& arena, int64_t rows, int64_t width)
      : width_(width), panels_(arena.take(round_up(rows, panel) * width)) {}

  // Packs the transpose of factor * from (rows, width).
  void pack(int64_t rows, real factor, const real* from, int64_t from_step) {
    pack_panels(rows, width_, factor, from, from_step, panels_);
  }
  int64_t width() const { return width_; }
  const real* panels(int64_t column) const { return panels_ + column * width_; }

 private:
  int64_t width_;
  real* panels_;
};

// Rows of Q, K, V or dY: the left factor of scores, and what weights are multiplied by.
class PackedRows {
 public:
  PackedRows(ScratchArena& arena, int64_t rows, int64_t width)
      : width_(width), rows_(arena.take(rows * padded_width(width))) {}

  // Packs factor * from (rows, width) as rows [first, first + rows).
  void pack(int64_t first, int64_t rows, real factor, const real* from, int64_t from_step) {
    pack_rows(rows, width_, factor, from, from_step, rows_ + first * step());
  }
  int64_t step() const { return padded_width(width_); }
  const real* row(int64_t r) const { return rows_ + r * step(); }

 private:
  int64_t width_;
  real* rows_;
};

// Calls body(first row, rows, start, n) for each tile of scores. The tile computes columns
// [start, n): those that some row of it sees, rounded.
template <class Body>
void for_score_tiles(const ScoreBlock& block, Body&& body) {
  for_row_tiles(most_tile_rows(padded_width(block.problem.width)), block.rows,
                [&](int64_t first, int64_t height) {
                  body(first, height, block.start(first),
                       round_up(block.limit(first + height - 1), key_step));
                });
}

// C (rows, padded_cols()), a block of scores: queries, beginning at row `row`, times columns,
// beginning at `column`. Columns that no row of a tile sees are skipped.
void multiply_scores(const ScoreBlock& block, const PackedRows& queries, int64_t row,
                     const PackedColumns& columns, int64_t column, real* c);

// The same; then calls body(r, n) for every row r: its numbers [block.start(r), n) in C were
// computed.
template <class Body>
void score_rows(const ScoreBlock& block, const PackedRows& queries, int64_t row,
                const PackedColumns& columns, int64_t column, real* c, Body&& body) {
  multiply_scores(block, queries, row, columns, column, c);
  for_score_tiles(block, [&](int64_t first, int64_t rows, int64_t, int64_t n) {
    for (int64_t r = first; r < first + rows; ++r) {
      body(r, n);
    }
  });
}

// C (rows, width) += A (rows, cols) B (cols, width), over the columns that the rows of A see.
// Rows of A have padded_cols() numbers; B begins at row `row`.
void add_weighted_rows(const ScoreBlock& block, const real* a, const PackedRows& b, int64_t row,
                       real* c);

// C (cols, width) += A^T (cols, rows) B (rows, width); otherwise as above.
void add_weighted_columns(const ScoreBlock& block, const real* a, const PackedRows& b, int64_t row,
                          real* c);

}  // namespace heed::detail
