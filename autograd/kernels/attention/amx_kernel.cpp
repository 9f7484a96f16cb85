#include "autograd/kernels/attention/amx_kernel.h"

#include <atomic>

#ifdef HEED_HAS_AMX

namespace heed::detail {

namespace {

static_assert(key_step == block_side);

constexpr int64_t most_width = 256;

// body(first, rows, data, step) for 32 rows at a time, times factor.
template <class Body>
void for_scaled_rows(int64_t rows, int64_t width, real factor, const real* from, int64_t from_step,
                     Body&& body) {
  real scaled[block_side * most_width];
  for (int64_t first = 0; first < rows; first += block_side, from += block_side * from_step) {
    const int64_t some = std::min(block_side, rows - first);
    if (factor == 1) {
      body(first, some, from, from_step);
    } else {
      pack_rows(some, width, factor, from, from_step, scaled);
      body(first, some, scaled, width);
    }
  }
}

struct Magnitudes {
  real largest = 0, smallest_row = std::numeric_limits<real>::max();  // of rows that are not 0

  // Whether with one scale for all rows the smallest one keeps its digits.
  bool even() const { return largest <= 4096 * smallest_row; }
};

Magnitudes magnitudes(int64_t rows, int64_t width, const real* from, int64_t from_step) {
  Magnitudes m;
  for (int64_t r = 0; r < rows; ++r, from += from_step) {
    Vector top{};
    for (int64_t k = 0; k < width; k += lanes) {
      const Vector x = load(from + k);
      top = larger(larger(x, -x), top);
    }
    const real row = largest_lane(top);
    m.largest = std::max(m.largest, row);
    m.smallest_row = row > 0 ? std::min(m.smallest_row, row) : m.smallest_row;
  }
  return m;
}

struct RowsToSplit {
  const real* data;
  int64_t step;
  bool along_depth, transposed;  // as for Splitter
};

// split(splitter, first row, how many) for factor * the rows, all at once or 32 at a time. With one
// scale for all of them: whether that leaves each its digits.
template <class Format, class Split>
bool split_rows(const RowsToSplit& from, int64_t rows, int64_t width, real factor, bool one_scale,
                Split&& split) {
  if constexpr (Format::scaled) {
    Splitter<Format> splitter(from.data, from.step, from.along_depth, from.transposed);
    splitter.multiply(factor);
    Magnitudes m;
    if (one_scale) {
      m = magnitudes(rows, width, from.data, from.step);
      splitter.set_largest(m.largest);
    }
    split(splitter, 0, rows);
    return m.even();
  } else {
    for_scaled_rows(rows, width, factor, from.data, from.step,
                    [&](int64_t r, int64_t some, const real* data, int64_t step) {
                      Splitter<Format> splitter(data, step, from.along_depth, from.transposed);
                      split(splitter, r, some);
                    });
    return true;
  }
}

// Weights as left factors: as they are (`rows`), or transposed.
template <class Format>
Splitter<Format> weights_splitter(const real* a, int64_t step, bool rows, real largest) {
  Splitter<Format> splitter(a, step, rows, !rows);
  if constexpr (Format::scaled) {
    splitter.set_largest(largest);
  }
  return splitter;
}

// C += A B, for `blocks` blocks of 32 rows of A; block_of_a(i) returns the rows of block i and the
// range of the depth that it needs. Row 0 of B is its row `row`.
template <class Format, class Block>
void add_product(Splitter<Format> splitter, int64_t blocks, Block&& block_of_a,
                 const AmxRows<Format>& b, int64_t row,
                 const typename AmxKernel<Format>::Work& work, real* c) {
  BlockEpilogue<Format::scaled> epilogue;
  int64_t buffer = 0;
  for (int64_t i = 0; i < blocks; ++i) {
    const auto [outer, depth] = block_of_a(i);
    const int64_t steps = blocks_in(depth.size);
    if (steps == 0) {
      continue;
    }
    auto* const panel = work.panel.at(0, 0);
    splitter.split(outer, depth, panel);
    for (int64_t column = 0; column < b.width(); column += block_side) {
      const auto* const steps_of_b = b.at(column, row + depth.begin);
      real* const to = c + i * block_side * b.width() + column;
      const auto overlapped = [&] {
        if constexpr (Format::scaled) {
          epilogue.next_row();
          epilogue.next_row();
        }
      };
      if constexpr (Format::scaled) {
        real* const block = work.blocks[buffer];
        multiply_block<Format>(steps, panel, steps_of_b, block, block_side, false, overlapped);
        epilogue.finish();
        epilogue.start(block, {to, b.width(), block_side, block_side, true});
        epilogue.set_scales(panel->inverse_scale, steps_of_b->inverse_scale);
        buffer = 1 - buffer;
      } else {
        multiply_block<Format>(steps, panel, steps_of_b, to, b.width(), true, overlapped);
      }
    }
  }
  epilogue.finish();
}

}  // namespace

template <class Format, bool left>
bool AmxScoreFactor<Format, left>::pack(int64_t first, int64_t rows, real factor, const real* from,
                                        int64_t from_step) {
  return split_rows<Format>({from, from_step, true, !left}, rows, width_, factor, !left,
                            [&](Splitter<Format>& splitter, int64_t r, int64_t some) {
                              splitter.split({0, some}, {0, width_}, steps_.at(first + r, 0));
                            });
}

template <class Format>
bool AmxRows<Format>::pack(int64_t first, int64_t rows, real factor, const real* from,
                           int64_t from_step) {
  return split_rows<Format>(
      {from, from_step, false, false}, rows, width_, factor, true,
      [&](Splitter<Format>& splitter, int64_t r, int64_t some) {
        for (int64_t column = 0; column < width_; column += block_side) {
          splitter.split({column, block_side}, {0, some}, steps_.at(column, first + r));
        }
      });
}

template <class Format>
void AmxKernel<Format>::add_weighted_rows(const ScoreBlock& block, const real* a, real largest,
                                          const Rows& b, int64_t row, const Work& work, real* c) {
  add_product<Format>(
      weights_splitter<Format>(a, block.padded_cols(), true, largest), blocks_in(block.rows),
      [&](int64_t i) {
        const int64_t first = i * block_side;
        const int64_t rows = std::min(block_side, block.rows - first);
        const int64_t start = block.start(first), seen = block.limit(first + rows - 1);
        return std::pair(Range{first, rows}, Range{start, round_up(seen, block_side) - start});
      },
      b, row, work, c);
}

template <class Format>
void AmxKernel<Format>::add_weighted_columns(const ScoreBlock& block, const real* a, real largest,
                                             const Rows& b, int64_t row, const Work& work,
                                             real* c) {
  add_product<Format>(
      weights_splitter<Format>(a, block.padded_cols(), false, largest), blocks_in(block.cols),
      [&](int64_t i) {
        const int64_t first = i * block_side;
        const int64_t r = block.first_row(first) / block_side * block_side;
        const int64_t cols = std::min(block_side, block.cols - first);
        return std::pair(Range{first, cols}, Range{r, block.row_end(first, first + cols) - r});
      },
      b, row, work, c);
}

template class AmxScoreFactor<Bfloat16x3, true>;
template class AmxScoreFactor<Bfloat16x3, false>;
template class AmxRows<Bfloat16x3>;
template struct AmxKernel<Bfloat16x3>;
template class AmxScoreFactor<Float16x2, true>;
template class AmxScoreFactor<Float16x2, false>;
template class AmxRows<Float16x2>;
template struct AmxKernel<Float16x2>;

bool amx_serves(const AttentionProblem& p) {
  constexpr int64_t least_size = 64 * 128;  // below, laying out costs more than is won
  const auto whole = [](int64_t width) { return width % block_side == 0 && width <= most_width; };
  return whole(p.width) && whole(p.value_width) &&
         std::min(p.queries, p.keys) * std::min(p.width, p.value_width) >= least_size;
}

AmxFormat backward_format(AmxFormat format, const AttentionProblem& p,
                          const AttentionInputs& inputs, const real* dy) {
  if (format != AmxFormat::float16) {
    return format;
  }
  const int64_t dy_row = p.heads * p.value_width;
  std::atomic<bool> even{true};
  const int64_t grain = row_grain(p.queries * (p.width + p.value_width));
  parallel_each(p.batch * p.heads, grain, [&](int64_t head) {
    const int64_t b = head / p.heads, h = head % p.heads;
    const real* const dy_rows = dy + b * p.queries * dy_row + h * p.value_width;
    if (!magnitudes(p.queries, p.width, inputs.q.at(b, h, 0), inputs.q.row).even() ||
        !magnitudes(p.queries, p.value_width, dy_rows, dy_row).even()) {
      even = false;
    }
  });
  return even ? AmxFormat::float16 : AmxFormat::bfloat16;
}

}  // namespace heed::detail

#else

namespace heed::detail {

bool amx_serves(const AttentionProblem&) { return false; }

AmxFormat backward_format(AmxFormat format, const AttentionProblem&, const AttentionInputs&,
                          const real*) {
  return format;
}

}  // namespace heed::detail

#endif
