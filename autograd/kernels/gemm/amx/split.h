// Splits float32 factors into AMX's tiles, in one of the formats of parts.h. Only for builds
// with HEED_HAS_AMX.
//
// A factor has two dimensions: the depth, along which a product adds up (K), and the outer one
// (rows of A, columns of B). Both are cut into blocks of 32, a rest being filled up with zeros. A
// split block is a Step, named after what a step of the K loop reads. Steps follow each other along
// the depth, so the K loop reads memory in order:
//
//     outer \ depth    0..31    32..63   64..95
//         0..31       Step 0   Step 1   Step 2        Step: for each part, the tile of outer 0..15
//        32..63       Step 3   Step 4   Step 5              and that of outer 16..31
//
// A tile has 16 rows of 16 pairs. In a tile of A, rows are outer and pairs run along the depth. In
// one of B, rows are pairs of the depth and columns are outer. In memory, a factor may have either
// dimension along its rows. If the tile's rows run across the rows of memory (a transposed A or a
// transposed B), 16 x 16 numbers are transposed on the way.
//
// Splitting takes up to half of a product's time, so this code takes care to stay in registers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "autograd/kernels/gemm/amx/scales.h"

namespace heed::detail {

inline constexpr int64_t blocks_in(int64_t n) { return (n + block_side - 1) / block_side; }

struct Range {
  int64_t begin, size;
};

// Splits ranges of one factor into Steps.
template <class Format>
class Splitter {
 public:
  using Step = typename Format::Step;

  // Element (o, k), o outer and k along the depth, is data[o * step + k] if rows of memory run
  // along the depth, else data[k * step + o]. `transposed`: rows of a tile run across rows of
  // memory.
  Splitter(const real* data, int64_t step, bool along_depth, bool transposed)
      : data_(data), step_(step), along_depth_(along_depth), transposed_(transposed) {}

  // Multiplies all products of factors that are split later by `factor`. Its sign goes into the
  // split numbers, so that inverse scales stay positive, as attention requires.
  void multiply(real factor) requires(Format::scaled) {
    factor_ = std::abs(factor);
    if (factor < 0) scales_.negate();
  }

  // Declares that no number is above `largest`. All rows then share one scale; none is measured.
  void set_largest(real largest) requires(Format::scaled) {
    scales_.set_largest(largest);
    measures_ = false;
  }

  // If `left` is given, left[i] becomes what the Steps do not hold of the i-th block of 32 outer
  // rows or columns. In bfloat16 an infinity or NaN does not fit; for float16 see scales.h. A bound
  // declared by set_largest is not checked.
  void split(Range outer, Range depth, Step* to, Remainder* left = nullptr) {
    if (along_depth_) {
      return transposed_ ? split_blocks<true, true>(outer, depth, to, left)
                         : split_blocks<true, false>(outer, depth, to, left);
    }
    return transposed_ ? split_blocks<false, true>(outer, depth, to, left)
                       : split_blocks<false, false>(outer, depth, to, left);
  }

 private:
  using State = typename Format::State;

  template <bool along_depth, bool transposed>
  [[gnu::noinline]] void split_blocks(Range outer, Range depth, Step* to, Remainder* left) {
    // Rows or columns that are neighbours in memory are measured together, see OuterScales.
    const int64_t measured = along_depth || !measures_ ? block_side : OuterScales::most_outer;
    const int64_t outer_step = along_depth ? step_ : 1, depth_step = along_depth ? 1 : step_;
    State state;
    for (int64_t o = 0; o < outer.size; o += block_side) {
      const real* from = data_ + (outer.begin + o) * outer_step + depth.begin * depth_step;
      if constexpr (Format::scaled) {
        if (measures_ && o % measured == 0) {
          scales_.measure(from, step_, std::min(measured, outer.size - o), depth.size, along_depth);
        }
      }
      for (int64_t k = 0; k < depth.size; k += block_side, ++to) {
        if constexpr (Format::scaled) {
          scales_.store_inverse(o % measured, factor_, to->inverse_scale);
        }
        for (const int64_t first : {int64_t{0}, tile_side}) {
          const Source tile = whole_tile({from + first * outer_step + k * depth_step, step_},
                                         outer.size - o - first, depth.size - k, along_depth);
          split_tile<along_depth, transposed>(tile, first / tile_side, *to, state,
                                              scales_.from(o % measured + first));
        }
      }
      if (left != nullptr) {
        Remainder& found = left[o / block_side];
        found.count = 0;
        found.fits = state.take_finite();
        if constexpr (Format::scaled) {
          if (scales_.has_remainder(o % measured)) {
            scales_.find_remainder(o % measured, from, outer_step, depth_step, depth.size, found);
          }
        }
      }
    }
  }

  // The source of a tile: 16 outer by 32 of the depth.
  struct Source {
    const real* data;
    int64_t step;
  };

  // The source itself, or a copy filled up with zeros where the factor ends inside it.
  Source whole_tile(Source tile, int64_t outer, int64_t depth, bool along_depth) {
    if (outer >= tile_side && depth >= block_side) {
      return tile;
    }
    outer = std::clamp(outer, int64_t{0}, tile_side);
    depth = std::min(depth, block_side);
    std::fill_n(padded_, tile_side * block_side, real{0});
    const int64_t step = along_depth ? block_side : tile_side;
    const int64_t rows = along_depth ? outer : depth, columns = along_depth ? depth : outer;
    for (int64_t r = 0; r < rows && outer > 0; ++r) {
      std::copy_n(tile.data + r * tile.step, columns, padded_ + r * step);
    }
    return {padded_, step};
  }

  template <bool along_depth, bool transposed>
  [[gnu::always_inline]] static void split_tile(Source tile, int64_t half, Step& to, State& state,
                                                const real* scales) {
    // Rows of a tile of A are outer; those of B are pairs of the depth.
    constexpr bool of_b = along_depth == transposed;
    constexpr bool interleaved = of_b && Format::adjacent_pairs;
    TileVector first_scale{}, second_scale{};
    if constexpr (Format::scaled && of_b) {
      first_scale = second_scale = load_row(scales);
      Format::interleave(first_scale, second_scale, state);
    }
    for (int64_t row = 0; row < tile_side; row += 4) {
      TileVector first[4], second[4];
      load_rows<along_depth, transposed, interleaved>(tile, row, first, second);
#pragma GCC unroll 4
      for (int64_t r = 0; r < 4; ++r) {
        if constexpr (interleaved) {
          Format::interleave(first[r], second[r], state);
        }
        if constexpr (Format::scaled && of_b) {
          first[r] *= first_scale;
          second[r] *= second_scale;
        } else if constexpr (Format::scaled) {
          first[r] *= scales[row + r];
          second[r] *= scales[row + r];
        }
        Format::split_pair(first[r], second[r], row + r, half, to, state);
      }
    }
  }

  // Loads the two vectors that each of the tile's rows [row, row + 4) is made from:
  //
  //             pairs (k, k + 16)                pairs (k, k + 1)
  //   A, row r  depth 0..15 and 16..31 of r      the same: already in the order of the pairs
  //   B, row r  depth r and r + 16, outer 0..15  depth 2 r and 2 r + 1, to be interleaved
  template <bool along_depth, bool transposed, bool interleaved>
  [[gnu::always_inline]] static void load_rows(Source tile, int64_t row, TileVector* first,
                                               TileVector* second) {
    const int64_t depth_step = along_depth ? 1 : tile.step;
    if constexpr (transposed && interleaved) {
      TileVector columns[8];
      load_columns(tile.data + 2 * row, tile.step, columns);
      load_columns(tile.data + 2 * row + 4, tile.step, columns + 4);
#pragma GCC unroll 4
      for (int64_t r = 0; r < 4; ++r) {
        first[r] = columns[2 * r];
        second[r] = columns[2 * r + 1];
      }
    } else if constexpr (transposed) {
      load_columns(tile.data + row, tile.step, first);
      load_columns(tile.data + tile_side * depth_step + row, tile.step, second);
    } else {
#pragma GCC unroll 4
      for (int64_t r = 0; r < 4; ++r) {
        const real* from = tile.data + (interleaved ? 2 : 1) * (row + r) * tile.step;
        first[r] = load_row(from);
        second[r] = load_row(from + (interleaved ? 1 : tile_side) * depth_step);
      }
    }
  }

  // columns[c][r] = from[r][c] for 16 rows and 4 columns. columns[c] first holds rows c, c + 4,
  // c + 8 and c + 12, four numbers each; then all 4 x 4 squares are transposed.
  [[gnu::always_inline]] static void load_columns(const real* from, int64_t step,
                                                  TileVector* columns) {
#pragma GCC unroll 4
    for (int64_t r = 0; r < 4; ++r) {
      columns[r] = load_quads(from + r * step, step);
    }
    transpose_squares<2, 4>(columns);
  }

  const real* data_;
  int64_t step_;
  bool along_depth_, transposed_;
  bool measures_ = Format::scaled;
  real factor_ = 1;
  [[no_unique_address]] std::conditional_t<Format::scaled, OuterScales, NoScales> scales_;
  alignas(64) real padded_[tile_side * block_side];
};

}  // namespace heed::detail
