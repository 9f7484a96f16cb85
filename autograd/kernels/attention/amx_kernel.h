// The matrix products of attention on AMX, for heads whose widths are whole blocks of 32. The same
// interface as vector_kernel.h; without HEED_HAS_AMX there is no such kernel. product.h names
// the files that explain tiles, split blocks (Steps) and the microkernel.
//
// Factors are split when they are packed. Which dimension is the depth depends on the product, and
// a matrix that takes part in two kinds of products is split twice:
//
//   scores = Q K^T, dP = dY V^T     depth: the width          AmxScoreFactor
//   Y = P V, dV = P^T dY, ...       depth: queries or keys    AmxRows (V, dY, K, Q)
//
// The weights P are split block by block, as soon as a block is computed.
//
// In a scaled format the scales of a score factor on the left are those of its rows; a right factor
// and AmxRows have one scale for all, found in one pass over the numbers. pack() then returns false
// if the smallest row would keep too few digits, and the whole attention is computed in a wider
// format.
#pragma once

#include "autograd/kernels/attention/vector_kernel.h"
#include "autograd/kernels/gemm/amx/unit.h"

#ifdef HEED_HAS_AMX

#include "autograd/kernels/gemm/amx/tiles.h"

namespace heed::detail {

// Memory for a split factor: Steps of 32 outer by 32 of the depth; those along the depth follow
// each other.
template <class Format>
class SplitSteps {
 public:
  using Step = typename Format::Step;

  SplitSteps(ScratchArena& arena, int64_t outer, int64_t depth)
      : depth_steps_(blocks_in(depth)),
        steps_(reinterpret_cast<Step*>(
            arena.take(blocks_in(outer) * depth_steps_ * numbers_per_step))) {}

  // The Step of element (outer, k).
  Step* at(int64_t outer, int64_t k) const {
    return steps_ + outer / block_side * depth_steps_ + k / block_side;
  }

 private:
  static constexpr int64_t numbers_per_step = sizeof(Step) / sizeof(real);

  int64_t depth_steps_;
  Step* steps_;
};

// A factor of scores: rows are outer, the depth is their width. The left one, or the transpose of
// the right one.
template <class Format, bool left>
class AmxScoreFactor {
 public:
  AmxScoreFactor(ScratchArena& arena, int64_t rows, int64_t width)
      : width_(width), steps_(arena, rows, width) {}

  bool pack(int64_t first, int64_t rows, real factor, const real* from, int64_t from_step);
  int64_t width() const { return width_; }
  const typename Format::Step* at(int64_t row) const { return steps_.at(row, 0); }
  // All rows of a right factor share one scale; scores have to be multiplied by its inverse.
  real inverse_scale() const {
    if constexpr (Format::scaled) {
      return at(0)->inverse_scale[0];
    } else {
      return 1;
    }
  }

 private:
  int64_t width_;
  SplitSteps<Format> steps_;
};

// The right factor of weights: columns are outer, the depth are the rows.
template <class Format>
class AmxRows {
 public:
  AmxRows(ScratchArena& arena, int64_t rows, int64_t width)
      : width_(width), steps_(arena, width, rows) {}

  bool pack(int64_t first, int64_t rows, real factor, const real* from, int64_t from_step);
  int64_t width() const { return width_; }
  const typename Format::Step* at(int64_t column, int64_t row) const {
    return steps_.at(column, row);
  }

 private:
  int64_t width_;
  SplitSteps<Format> steps_;
};

template <class Format>
struct AmxKernel {
  // Larger than VectorKernel's: accumulated results pass through the tiles once for each block.
  static constexpr int64_t query_block = 256;
  static constexpr int64_t key_block = 256;
  // An infinite factor makes every sum that it takes part in NaN, as its second part is inf - inf.
  // If y is not finite, VectorKernel computes it again.
  static constexpr bool finite_only = true;
  static constexpr bool scaled = Format::scaled;
  static int64_t padded_rows(int64_t rows) { return round_up(rows, block_side); }
  using Session = TileRegisters;

  using Columns = AmxScoreFactor<Format, false>;
  using Queries = AmxScoreFactor<Format, true>;
  using Rows = AmxRows<Format>;

  class QueriesAndRows {
   public:
    QueriesAndRows(ScratchArena& arena, int64_t rows, int64_t width)
        : queries_(arena, rows, width), rows_(arena, rows, width) {}

    void pack(int64_t first, int64_t rows, real factor, const real* from, int64_t from_step) {
      queries_.pack(first, rows, factor, from, from_step);
      rows_.pack(first, rows, factor, from, from_step);
    }
    operator const Queries&() const { return queries_; }
    operator const Rows&() const { return rows_; }

   private:
    Queries queries_;
    Rows rows_;
  };

  // A panel of split weights, and two blocks of results: while one is filled, the other one is in
  // the epilogue.
  struct Work {
    explicit Work(ScratchArena& arena)
        : panel(arena, block_side, std::max(query_block, key_block)),
          blocks{arena.take(block_size), arena.take(block_size)} {}
    static constexpr int64_t block_size = scaled ? block_side * block_side : 0;
    SplitSteps<Format> panel;
    real* blocks[2];
  };

  // body() runs on the rows of a block of 32 queries while AMX multiplies the next block: softmax
  // and products overlap.
  template <class Body>
  static void score_rows(const ScoreBlock& block, const Queries& queries, int64_t row,
                         const Columns& columns, int64_t column, real* c, Body&& body) {
    const int64_t steps = columns.width() / block_side;
    int64_t ready = 0, end = 0, n_ready = 0;  // rows [ready, end) wait for the body
    const auto next_row = [&] {
      if (ready < end) {
        real factor = 1;
        // Above 0, as it will multiply scores of -infinity. Inverse scales are not negative.
        if constexpr (Format::scaled) {
          const real* const rows = queries.at(row + ready)->inverse_scale;
          factor = std::max(rows[ready % block_side] * columns.inverse_scale(),
                            std::numeric_limits<real>::min());
        }
        body(ready++, n_ready, factor);
      }
    };
    for (int64_t first = 0; first < block.rows; first += block_side) {
      const int64_t rows = std::min(block_side, block.rows - first);
      const int64_t start = block.start(first);
      const int64_t n = round_up(block.limit(first + rows - 1), key_step);
      EvenSchedule schedule(end - ready, Format::products * steps * ((n - start) / block_side));
      for (int64_t j = start; j < n; j += block_side) {
        multiply_block<Format>(steps, queries.at(row + first), columns.at(column + j),
                               c + first * block.padded_cols() + j, block.padded_cols(), false,
                               [&] { schedule.next_slot(next_row); });
      }
      while (ready < end) {
        next_row();
      }
      end = first + rows;
      n_ready = n;
    }
    while (ready < end) {
      next_row();
    }
  }

  static void add_weighted_rows(const ScoreBlock& block, const real* a, real largest, const Rows& b,
                                int64_t row, const Work& work, real* c);
  static void add_weighted_columns(const ScoreBlock& block, const real* a, real largest,
                                   const Rows& b, int64_t row, const Work& work, real* c);
};

}  // namespace heed::detail

#endif

namespace heed::detail {

// True for sizes that AMX can compute and was measured to be the fastest for.
bool amx_serves(const AttentionProblem& p);

// The format for a backward pass whose forward ran in `format`: float16 only if the rows of q and
// of dy (B, T, H dv) keep their digits with one scale for all rows of a head, as those of k and v
// did.
AmxFormat backward_format(AmxFormat format, const AttentionProblem& p,
                          const AttentionInputs& inputs, const real* dy);

// body.operator()<Kernel>()
template <class Body>
auto with_kernel([[maybe_unused]] AmxFormat amx, Body&& body) {
#ifdef HEED_HAS_AMX
  if (amx == AmxFormat::float16) {
    return body.template operator()<AmxKernel<Float16x2>>();
  }
  if (amx == AmxFormat::bfloat16) {
    return body.template operator()<AmxKernel<Bfloat16x3>>();
  }
#endif
  return body.template operator()<VectorKernel>();
}

}  // namespace heed::detail
