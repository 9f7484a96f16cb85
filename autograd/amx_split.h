// float32 matrices as AMX's tiles want them, in one of the formats of amx_parts.h. Only for builds
// with HEED_AMX.
#pragma once

#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "autograd/amx_parts.h"

namespace heed::detail {

inline constexpr int64_t blocks_in(int64_t n) { return (n + block_side - 1) / block_side; }

struct Range {
  int64_t begin, size;
};

// The powers of two that 32 lines are multiplied by, see Float16x2.
class LineScales {
 public:
  void clear() { std::fill_n(largest_, block_side, BitsVector{}); }

  // Looks at `lines` lines by `depth` places, at most 32 of each; as for Splitter.
  void look(const real* data, int64_t step, int64_t lines, int64_t depth, bool along_depth) {
    const uint64_t mask = (uint64_t{1} << (along_depth ? depth : lines)) - 1;
    const auto left = static_cast<__mmask16>(mask), right = static_cast<__mmask16>(mask >> lanes);
    if (along_depth) {
      for (int64_t line = 0; line < lines; ++line, data += step) {
        const BitsVector row = largest(magnitudes(left, data), magnitudes(right, data + lanes));
        largest_[line] = largest(largest_[line], row);
      }
      return;
    }
    BitsVector first = largest_[0], second = largest_[tile_side];
    for (int64_t k = 0; k < depth; ++k, data += step) {
      first = largest(first, magnitudes(left, data));
      second = largest(second, magnitudes(right, data + lanes));
    }
    largest_[0] = first;
    largest_[tile_side] = second;
  }

  // False where a number is from 2^98 on, infinite or NaN: sums that are finite may then come out
  // infinite.
  bool finish(bool along_depth) {
    const BitsVector first = largest_by_line(0, along_depth);
    const BitsVector second = largest_by_line(tile_side, along_depth);
    const bool first_fits = choose(0, first), second_fits = choose(tile_side, second);
    return first_fits && second_fits;
  }

  // For numbers of which none is larger, instead of looking.
  void assume(real largest) {
    for (const int64_t first : {int64_t{0}, tile_side}) {
      choose(first, std::bit_cast<BitsVector>(largest + Vector{}));
    }
  }

  // undo (32): what sums are multiplied by to be `factor` times the product.
  void put_undo(real factor, real* undo) const {
    for (const int64_t first : {int64_t{0}, tile_side}) {
      store(undo + first, factor * load(undo_ + first));
    }
  }

  const real* of_tile(int64_t half) const { return scale_ + half * tile_side; }

 private:
  static BitsVector magnitudes(__mmask16 mask, const real* from) {
    return std::bit_cast<BitsVector>(_mm512_maskz_loadu_ps(mask, from)) & 0x7fffffff;
  }

  static BitsVector largest(BitsVector a, BitsVector b) { return a > b ? a : b; }

  BitsVector largest_by_line(int64_t first, bool along_depth) {
    if (!along_depth) {
      return largest_[first];
    }
    Vector columns[tile_side];
    std::memcpy(columns, largest_ + first, sizeof columns);
    transpose_square(columns);
    BitsVector all{};
    for (const Vector& column : columns) {
      all = largest(all, std::bit_cast<BitsVector>(column));
    }
    return all;
  }

  bool choose(int64_t first, BitsVector largest) {
    constexpr uint32_t least = 30, most = 224, target = 14, bias = 127, two = 2;
    const BitsVector exponent = largest >> 23;
    const BitsVector used = exponent > least ? exponent : least + BitsVector{};
    store(scale_ + first, std::bit_cast<Vector>((two * bias + target - used) << 23));
    store(undo_ + first, std::bit_cast<Vector>((used - target) << 23));
    return _mm512_cmpgt_epu32_mask(std::bit_cast<__m512i>(exponent), _mm512_set1_epi32(most)) == 0;
  }

  BitsVector largest_[block_side];  // magnitudes as bits: of a line each, or of 16 lines
  real scale_[block_side], undo_[block_side];
};

struct NoScales {};

// Splits lines of a factor, 32 at a time, into steps of 32 of the depth, step after step. The work
// is done in pieces, small enough to hide behind four products of tiles: a quarter of a tile to
// split, or, where the format needs to know the lines' largest numbers before, 32 lines to look at.
template <class Format>
class Splitter {
 public:
  // Number (line, k) is data[line * step + k] with lines along the depth, else data[k * step +
  // line]. `transposed`: rows of a tile run across rows of the matrix.
  Splitter(const real* data, int64_t step, bool along_depth, bool transposed)
      : data_(data), step_(step), along_depth_(along_depth), transposed_(transposed) {}

  using Step = typename Format::Step;

  void start(Range lines, Range depth, Step* to) {
    lines_ = lines;
    depth_ = depth;
    to_ = to;
    line_ = k_ = half_ = row_ = 0;
    looked_ = 0;
    pieces_ = left_ = blocks_in(lines.size) * blocks_in(depth.size) * (looks_ ? 9 : 8);
    check_ = Vector{};
    finite_ = true;
  }
  // Products with what is split from now on come out times `factor`.
  void multiply(real factor) requires(Format::scaled) { factor_ = factor; }

  // Says that no number is larger, which saves looking at them. All lines share a scale then.
  void assume(real largest) requires(Format::scaled) {
    scales_.assume(largest);
    looks_ = false;
  }

  int64_t pieces() const { return pieces_; }
  void finish() {
    while (left_ > 0) {
      next_piece();
    }
  }
  // Whether everything since the start was, and had a scale.
  bool finite() const { return finite_ && !std::isnan(sum_of_lanes(check_)); }

  void next_piece() {
    if (left_ == 0) {
      return;
    }
    --left_;
    if constexpr (Format::scaled) {
      if (looked_ < depth_.size && looks_) {
        look();
        return;
      }
      if (looked_ == 0) {
        put_undo();
        looked_ = depth_.size;
      }
    }
    split_quarter();
  }

 private:
  // In all steps of the current lines.
  void put_undo() {
    for (int64_t step = 0; step < blocks_in(depth_.size); ++step) {
      scales_.put_undo(factor_, to_[step].undo);
    }
  }

  void look() {
    if (looked_ == 0) {
      scales_.clear();
    }
    scales_.look(at(line_, looked_), step_, std::min(block_side, lines_.size - line_),
                 std::min(block_side, depth_.size - looked_), along_depth_);
    looked_ += block_side;
    if (looked_ >= depth_.size) {
      finite_ = scales_.finish(along_depth_) && finite_;
      put_undo();
    }
  }

  [[gnu::always_inline]] void split_quarter() {
    const int64_t row = row_;
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
    split(low, high);
    row_ += 4;
    if (row_ == tile_side) {
      leave_tile();
    }
  }

  [[gnu::always_inline]] void split(const Vector* low, const Vector* high) {
    const int64_t row = row_, half = half_;
    Step& to = *to_;
    if constexpr (Format::scaled) {
      const typename Format::Constants constants;
      const auto split_rows = [&](auto&& scale) __attribute__((always_inline)) {
#pragma GCC unroll 4
        for (int64_t r = 0; r < 4; ++r) {
          Format::split_pair(low[r] * scale(r), high[r] * scale(r), row + r, half, to, constants);
        }
      };
      if (along_depth_ != transposed_) {
        const real* of_rows = scales_.of_tile(half) + row;
        split_rows([&](int64_t r) { return static_cast<Vector>(_mm512_set1_ps(of_rows[r])); });
      } else {
        const Vector of_columns = load(scales_.of_tile(half));
        split_rows([&](int64_t) { return of_columns; });
      }
    } else {
      Vector check = check_;
#pragma GCC unroll 4
      for (int64_t r = 0; r < 4; ++r) {
        Format::split_pair(low[r], high[r], row + r, half, to, check);
      }
      check_ = check;
    }
  }

  // Places count from the start of lines_ and depth_.
  const real* at(int64_t line, int64_t k) const {
    line += lines_.begin;
    k += depth_.begin;
    return along_depth_ ? data_ + line * step_ + k : data_ + k * step_ + line;
  }

  void find_tile() {
    tile_ = at(line_ + half_ * tile_side, k_);
    tile_step_ = step_;
    const int64_t lines = std::min(tile_side, lines_.size - line_ - half_ * tile_side);
    const int64_t depth = std::min(block_side, depth_.size - k_);
    if (lines < tile_side || depth < block_side) {
      pad(lines, depth);
    }
    second_ = along_depth_ ? tile_side : tile_side * tile_step_;
  }

  void leave_tile() {
    row_ = 0;
    half_ = 1 - half_;
    if (half_ == 0) {
      ++to_;
      k_ += block_side;
      if (k_ >= depth_.size) {
        k_ = looked_ = 0;
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
  [[gnu::always_inline]] void load_columns(const real* from, Vector* columns) const {
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
  Step* to_ = nullptr;
  int64_t line_ = 0, k_ = 0, half_ = 0, row_ = 0;  // of the current tile
  int64_t looked_ = 0;                             // how deep at the current lines
  int64_t pieces_ = 0, left_ = 0;
  const real* tile_ = nullptr;
  int64_t tile_step_ = 0, second_ = 0;
  Vector check_{};
  bool finite_ = true;
  bool looks_ = Format::scaled;
  real factor_ = 1;
  [[no_unique_address]] std::conditional_t<Format::scaled, LineScales, NoScales> scales_;
  alignas(64) real padded_[tile_side * block_side];
};

}  // namespace heed::detail
