// float32 matrices as AMX's tiles want them: each number as the sum of three bfloat16. Only for
// builds with HEED_AMX.
//
// A tile is 16 rows of 16 pairs. The product of two tiles adds A[i][p] . B[p][j] over the pairs p
// to C[i][j], so a row of A's tile is a row of A, and a row of B's tile is two rows of B. Which two
// does not matter as long as A agrees: here k and k + 16, so that vectors need no shuffling.
#pragma once

#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "autograd/register_tile.h"

namespace heed::detail {

inline constexpr int64_t tile_side = 16;
inline constexpr int64_t block_side = 2 * tile_side;
inline constexpr int float_parts = 3;

inline constexpr int64_t blocks_in(int64_t n) { return (n + block_side - 1) / block_side; }

// 32 lines (rows of A or columns of B) by 32 of the depth.
struct SplitStep {
  alignas(64) uint32_t tiles[float_parts][2][tile_side][tile_side];
};

struct Range {
  int64_t begin, size;
};

// Row `row` of the tiles of all three parts. The first part is rounded, the second cut off and the
// third what is left. `check` becomes NaN when a number is infinite or NaN.
inline void split_pair(Vector low, Vector high, int64_t row, SplitStep& to, int64_t half,
                       Vector& check) {
  constexpr uint32_t upper = 0xffff0000;
  const auto pair = [&](int part, BitsVector l, BitsVector h) {
    *reinterpret_cast<BitsVector*>(to.tiles[part][half][row]) = (h & upper) | l >> 16;
  };
  const auto take = [&](int part, uint32_t rounding) {
    const BitsVector l = (std::bit_cast<BitsVector>(low) + rounding) & upper;
    const BitsVector h = (std::bit_cast<BitsVector>(high) + rounding) & upper;
    pair(part, l, h);
    low -= std::bit_cast<Vector>(l);
    high -= std::bit_cast<Vector>(h);
  };
  take(0, 0x8000);
  take(1, 0);
  pair(2, std::bit_cast<BitsVector>(low), std::bit_cast<BitsVector>(high));
  check += low * high;
}

// Splits lines of a factor, 32 at a time, into steps of 32 of the depth, step after step. The work
// is done in quarters of tiles, small enough to hide behind four products of tiles.
class Splitter {
 public:
  // Number (line, k) is data[line * step + k] with lines along the depth, else data[k * step +
  // line]. `transposed`: rows of a tile run across rows of the matrix.
  Splitter(const real* data, int64_t step, bool along_depth, bool transposed)
      : data_(data), step_(step), along_depth_(along_depth), transposed_(transposed) {}

  void start(Range lines, Range depth, SplitStep* to) {
    lines_ = lines;
    depth_ = depth;
    to_ = to;
    line_ = k_ = half_ = 0;
    quarters_ = left_ = blocks_in(lines.size) * blocks_in(depth.size) * 2 * 4;
    check_ = Vector{};
  }
  int64_t quarters() const { return quarters_; }
  void finish() {
    while (left_ > 0) {
      next_quarter();
    }
  }
  // Whether everything since the start was.
  bool finite() const { return !std::isnan(sum_of_lanes(check_)); }

  void next_quarter() {
    if (left_ == 0) {
      return;
    }
    const int64_t row = (quarters_ - left_) % 4 * 4;
    if (row == 0) {
      find_tile();
    }
    fetch_quarter(row);
    Vector low[4], high[4];
    if (transposed_) {
      load_columns(tile_ + row, low);
      load_columns(tile_ + second_ + row, high);
    } else {
      for (int64_t r = 0; r < 4; ++r) {
        low[r] = load(tile_ + (row + r) * tile_step_);
        high[r] = load(tile_ + second_ + (row + r) * tile_step_);
      }
    }
    Vector check = check_;
#pragma GCC unroll 4
    for (int64_t r = 0; r < 4; ++r) {
      split_pair(low[r], high[r], row + r, *to_, half_, check);
    }
    check_ = check;
    --left_;
    if (row == 12) {
      leave_tile();
    }
  }

 private:
  void find_tile() {
    const int64_t line = lines_.begin + line_ + half_ * tile_side, k = depth_.begin + k_;
    tile_ = along_depth_ ? data_ + line * step_ + k : data_ + k * step_ + line;
    tile_step_ = step_;
    const int64_t lines = std::min(tile_side, lines_.size - line_ - half_ * tile_side);
    const int64_t depth = std::min(block_side, depth_.size - k_);
    if (lines < tile_side || depth < block_side) {
      pad(lines, depth);
    }
    second_ = along_depth_ ? tile_side : tile_side * tile_step_;
  }

  void leave_tile() {
    half_ = 1 - half_;
    if (half_ == 0) {
      ++to_;
      k_ += block_side;
      if (k_ >= depth_.size) {
        k_ = 0;
        line_ += block_side;
      }
    }
  }

  // A tile at the edge, with zeros beyond it.
  void pad(int64_t lines, int64_t depth) {
    std::fill_n(padded_, tile_side * block_side, real{0});
    const int64_t step = along_depth_ ? block_side : tile_side;
    const int64_t rows = along_depth_ ? lines : depth, columns = along_depth_ ? depth : lines;
    for (int64_t r = 0; r < rows && lines > 0; ++r) {
      std::copy_n(tile_ + r * step_, columns, padded_ + r * step);
    }
    tile_ = padded_;
    tile_step_ = step;
  }

  // The same quarter of the next 32 lines.
  void fetch_quarter(int64_t row) const {
    const real* soon = tile_ + block_side * (along_depth_ ? step_ : 1) + row * tile_step_;
    for (int64_t r = 0; r < 4; ++r, soon += tile_step_) {
      __builtin_prefetch(soon);
      __builtin_prefetch(soon + second_);
    }
  }

  // columns[c][r] = from[r][c] for 16 rows.
  void load_columns(const real* from, Vector* columns) const {
#pragma GCC unroll 4
    for (int64_t r = 0; r < 4; ++r) {
      // Compilers would shuffle registers together; what comes from memory needs no shuffling.
      const auto quad = [&](int64_t row) { return _mm_loadu_ps(from + row * tile_step_); };
      __m512 column = _mm512_castps128_ps512(quad(r));
      column = _mm512_insertf32x4(column, quad(r + 4), 1);
      column = _mm512_insertf32x4(column, quad(r + 8), 2);
      columns[r] = static_cast<Vector>(_mm512_insertf32x4(column, quad(r + 12), 3));
    }
    transpose_squares<2, 4>(columns);
  }

  const real* data_;
  int64_t step_;
  bool along_depth_, transposed_;
  Range lines_{}, depth_{};
  SplitStep* to_ = nullptr;
  int64_t line_ = 0, k_ = 0, half_ = 0;  // of the current tile, within lines_ and depth_
  int64_t quarters_ = 0, left_ = 0;
  const real* tile_ = nullptr;
  int64_t tile_step_ = 0, second_ = 0;
  Vector check_{};
  alignas(64) real padded_[tile_side * block_side];
};

}  // namespace heed::detail
