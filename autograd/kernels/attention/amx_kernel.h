// The matrix products of attention on AMX, for heads whose widths are whole blocks of 32. As
// attention_vector.h; without HEED_HAS_AMX there is no such kernel.
#pragma once

#include "autograd/kernels/attention/vector_kernel.h"
#include "autograd/kernels/gemm/amx/unit.h"

#ifdef HEED_HAS_AMX

#include "autograd/kernels/gemm/amx/tiles.h"

namespace heed::detail {

// A matrix in steps: 32 of its lines by 32 of the depth. Steps along the depth follow each other.
template <class Format>
class SplitSteps {
 public:
  using Step = typename Format::Step;

  SplitSteps(ScratchPieces& pieces, int64_t lines, int64_t depth)
      : depth_steps_(blocks_in(depth)),
        steps_(reinterpret_cast<Step*>(
            pieces.take(blocks_in(lines) * depth_steps_ * numbers_per_step))) {}

  // The step in which a line and a place along the depth lie.
  Step* at(int64_t line, int64_t k) const {
    return steps_ + line / block_side * depth_steps_ + k / block_side;
  }

 private:
  static constexpr int64_t numbers_per_step = sizeof(Step) / sizeof(real);

  int64_t depth_steps_;
  Step* steps_;
};

// Rows by 32 of their width: left factors of scores, and, transposed, what they are products with.
template <class Format, bool left>
class AmxLines {
 public:
  AmxLines(ScratchPieces& pieces, int64_t rows, int64_t width)
      : width_(width), steps_(pieces, rows, width) {}

  bool pack(int64_t first, int64_t rows, real factor, const real* from, int64_t from_step);
  int64_t width() const { return width_; }
  const typename Format::Step* at(int64_t row) const { return steps_.at(row, 0); }
  // Right factors share a scale: then it is a number that scores are to be multiplied by.
  real undo() const requires(Format::scaled && !left) { return at(0)->undo[0]; }

 private:
  int64_t width_;
  SplitSteps<Format> steps_;
};

// Columns by 32 of the rows: what weights are multiplied by.
template <class Format>
class AmxRows {
 public:
  AmxRows(ScratchPieces& pieces, int64_t rows, int64_t width)
      : width_(width), steps_(pieces, width, rows) {}

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
  // Larger than with vectors: what is gathered over blocks passes through the tiles once for each.
  static constexpr int64_t query_block = 256;
  static constexpr int64_t key_block = 256;
  // An infinite factor makes NaN of every sum it has a part in; where y is not finite, it is
  // VectorKernel that has to make it.
  static constexpr bool finite_only = true;
  static constexpr bool scaled = Format::scaled;
  static int64_t padded_rows(int64_t rows) { return round_up(rows, block_side); }
  using Session = TileRegisters;

  class Columns : public AmxLines<Format, false> {
   public:
    using AmxLines<Format, false>::AmxLines;
    bool pack(int64_t rows, real factor, const real* from, int64_t from_step) {
      return AmxLines<Format, false>::pack(0, rows, factor, from, from_step);
    }
  };
  using Queries = AmxLines<Format, true>;
  using Rows = AmxRows<Format>;

  class QueriesAndRows {
   public:
    QueriesAndRows(ScratchPieces& pieces, int64_t rows, int64_t width)
        : queries_(pieces, rows, width), rows_(pieces, rows, width) {}

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

  // A panel of weights, and two blocks of what comes out: one is filled while the other one is
  // added where it belongs.
  struct Work {
    explicit Work(ScratchPieces& pieces)
        : panel(pieces, block_side, std::max(query_block, key_block)),
          blocks{pieces.take(block_size), pieces.take(block_size)} {}
    static constexpr int64_t block_size = scaled ? block_side * block_side : 0;
    SplitSteps<Format> panel;
    real* blocks[2];
  };

  // The rows of a tile are the body's while the next tile is multiplied.
  template <class Body>
  static void score_rows(const ScoreBlock& block, const Queries& queries, int64_t row,
                         const Columns& columns, int64_t column, real* c, Body&& body) {
    const int64_t steps = columns.width() / block_side;
    int64_t ready = 0, end = 0, n_ready = 0;  // rows [ready, end) wait for the body
    const auto next_row = [&] {
      if (ready < end) {
        real factor = 1;
        if constexpr (Format::scaled) {  // above 0, as it will multiply scores of -infinity
          factor = std::max(queries.at(row + ready)->undo[ready % block_side] * columns.undo(),
                            std::numeric_limits<real>::min());
        }
        body(ready++, n_ready, factor);
      }
    };
    for (int64_t first = 0; first < block.rows; first += block_side) {
      const int64_t rows = std::min(block_side, block.rows - first);
      const int64_t n = round_up(block.limit(first + rows - 1), key_step);
      Pace pace(end - ready, Format::products * steps * (n / block_side));
      for (int64_t j = 0; j < n; j += block_side) {
        multiply_block<Format>(steps, queries.at(row + first), columns.at(column + j),
                               c + first * block.padded_cols() + j, block.padded_cols(), false,
                               [&] { pace.moment(next_row); });
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
