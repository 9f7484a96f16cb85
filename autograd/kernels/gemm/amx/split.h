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
// Splitting the factors takes up to half of a product's time. Hence the care about registers here.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "autograd/kernels/gemm/amx/parts.h"
#include "autograd/kernels/simd/register_tile.h"

namespace heed::detail {

inline constexpr int64_t blocks_in(int64_t n) { return (n + block_side - 1) / block_side; }

struct Range {
  int64_t begin, size;
};

// The largest and the smallest magnitude that each lane has seen.
class Span {
 public:
  void see(TileVector v) {
    largest_ = larger_magnitude(largest_, v);
    const TileBits bits = order_of(v);
    smallest_ = bits < smallest_ ? bits : smallest_;
  }
  void see(const Span& other) {
    largest_ = larger_magnitude(largest_, other.largest_);
    smallest_ = other.smallest_ < smallest_ ? other.smallest_ : smallest_;
  }

  TileVector largest() const { return largest_; }
  // As order_of() has it: twice the bits of the smallest one, less one.
  TileBits smallest() const { return smallest_; }

 private:
  // Without the sign, and 0 behind all others.
  static TileBits order_of(TileVector v) {
    const TileBits bits = std::bit_cast<TileBits>(v);
    return bits + bits - 1;
  }

  TileVector largest_{};
  TileBits smallest_ = ~TileBits{};
};

// The scales of Float16x2: a power of two for each row of A or column of B.
class OuterScales {
 public:
  static constexpr int64_t most_outer = 512;

  // From now on the scales are negative: what is split is minus the numbers.
  void negate() { sign_ = uint32_t{1} << 31; }

  // Chooses scales for up to most_outer rows or columns, `depth` numbers each; the layout is that
  // of Splitter. Numbers are read in the order of memory, which the CPU's prefetchers follow.
  // Returns false if a number is infinite or at least 2^98: a finite sum could then overflow. Also
  // if the largest number of a row or column is more than 2^22 times the smallest that is not 0,
  // which then keeps too few digits: where the other factor is large just there, the product would
  // lose them. NaNs are ignored: they become NaN wherever they are multiplied.
  bool measure(const real* data, int64_t step, int64_t outer, int64_t depth, bool along_depth) {
    if (along_depth) {
      return measure_rows(data, step, outer, depth);
    }
    Span spans[most_outer / tile_side];
    for (int64_t k = 0; k < depth; ++k, data += step) {
      int64_t i = 0;
      for (; i + tile_side <= outer; i += tile_side) {
        spans[i / tile_side].see(load_row(data + i));
      }
      if (i < outer) {
        spans[i / tile_side].see(load_first(outer - i, data + i));
      }
    }
    bool fits = true;
    for (int64_t i = 0; i < outer; i += block_side) {
      for (const int64_t first : {i, i + tile_side}) {
        const Span& span = spans[first / tile_side];
        fits = choose(first, span.largest()) && narrow(span.largest(), span.smallest()) && fits;
      }
    }
    return fits;
  }

  // Instead of measure(): one scale for block_side rows or columns without a larger number.
  void set_largest(real largest) {
    for (int64_t i = 0; i < block_side; i += tile_side) {
      choose(i, largest + TileVector{});
    }
  }

  // to (32) = factor / scale, from this row or column on.
  void store_inverse(int64_t outer, real factor, real* to) const {
    store_row(to, factor * load_row(inverse_ + outer));
    store_row(to + tile_side, factor * load_row(inverse_ + outer + tile_side));
  }

  const real* from(int64_t outer) const { return scale_ + outer; }

 private:
  static Span span_of_row(const real* row, int64_t depth) {
    Span even, odd;
    int64_t k = 0;
    for (; k + 2 * tile_side <= depth; k += 2 * tile_side) {
      even.see(load_row(row + k));
      odd.see(load_row(row + k + tile_side));
    }
    for (; k < depth; k += tile_side) {
      even.see(load_first(std::min(tile_side, depth - k), row + k));
    }
    even.see(odd);
    return even;
  }

  bool measure_rows(const real* data, int64_t step, int64_t outer, int64_t depth) {
    bool fits = true;
    for (int64_t first = 0; first < round_up(outer, block_side); first += tile_side) {
      TileVector largest[tile_side] = {};
      TileBits smallest[tile_side];
      std::fill_n(smallest, tile_side, ~TileBits{});
      for (int64_t i = 0; i < std::min(tile_side, outer - first); ++i, data += step) {
        const Span span = span_of_row(data, depth);
        largest[i] = span.largest();
        smallest[i] = span.smallest();
      }
      const auto larger_of = [](TileVector a, TileVector b) { return larger_magnitude(a, b); };
      const auto smaller_of = [](TileBits a, TileBits b) { return a < b ? a : b; };
      const TileVector top = fold_rows(largest, larger_of);
      fits = choose(first, top) && narrow(top, fold_rows(smallest, smaller_of)) && fits;
    }
    return fits;
  }

  // Whether the exponents of the largest and the smallest number of each lane are at most 22 apart.
  // A lane of nothing but zeros and NaNs has 0 as its largest number.
  static bool narrow(TileVector largest, TileBits smallest) {
    constexpr uint32_t most = 22;
    const TileBits top = std::bit_cast<TileBits>(largest) >> 23, least = (smallest + 1) >> 24;
    return all_up_to(top > least ? top - least : TileBits{}, most);
  }

  // Computes with exponents alone: a power of two has no other bits. `target` brings the largest
  // number into [2^14, 2^15), a factor of two below float16's overflow. `least` keeps the scale and
  // its inverse normal float32 numbers: what is below 2^-97 shares the scale of 2^-97. An exponent
  // of `most` is that of numbers below 2^98.
  bool choose(int64_t first, TileVector largest) {
    constexpr uint32_t least = 30, most = 224, target = 14, bias = 127, two = 2;
    const TileBits exponent = std::bit_cast<TileBits>(largest) >> 23;
    const TileBits used = exponent > least ? exponent : least + TileBits{};
    const TileBits scale = (two * bias + target - used) << 23 | sign_;
    store_row(scale_ + first, std::bit_cast<TileVector>(scale));
    store_row(inverse_ + first, std::bit_cast<TileVector>((used - target) << 23));
    return all_up_to(exponent, most);
  }

  uint32_t sign_ = 0;
  alignas(64) real scale_[most_outer], inverse_[most_outer];
};

struct NoScales {
  static const real* from(int64_t) { return nullptr; }
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

  // Multiplies all products with factors that are split after this by `factor`. Its sign goes into
  // the numbers: whoever multiplies scores by inverse scales relies on those being positive.
  void multiply(real factor) requires(Format::scaled) {
    factor_ = std::abs(factor);
    if (factor < 0) scales_.negate();
  }

  // Declares that no number is larger. One scale then serves all rows, and none is measured.
  void set_largest(real largest) requires(Format::scaled) {
    scales_.set_largest(largest);
    measures_ = false;
  }

  // Returns false if products of these Steps could differ from those of the numbers by more than
  // rounding: if a number is infinite, in bfloat16 NaN, or in float16 too large for a scale or too
  // small for the scale of its row or column (OuterScales::measure). What set_largest declares is
  // not checked.
  bool split(Range outer, Range depth, Step* to) {
    if (along_depth_) {
      return transposed_ ? split_blocks<true, true>(outer, depth, to)
                         : split_blocks<true, false>(outer, depth, to);
    }
    return transposed_ ? split_blocks<false, true>(outer, depth, to)
                       : split_blocks<false, false>(outer, depth, to);
  }

 private:
  using State = typename Format::State;

  template <bool along_depth, bool transposed>
  [[gnu::noinline]] bool split_blocks(Range outer, Range depth, Step* to) {
    // Neighbours in memory are measured together, see OuterScales.
    const int64_t measured = along_depth || !measures_ ? block_side : OuterScales::most_outer;
    const int64_t outer_step = along_depth ? step_ : 1, depth_step = along_depth ? 1 : step_;
    bool fits = true;
    State state;
    for (int64_t o = 0; o < outer.size; o += block_side) {
      const real* from = data_ + (outer.begin + o) * outer_step + depth.begin * depth_step;
      if constexpr (Format::scaled) {
        if (measures_ && o % measured == 0) {
          fits = scales_.measure(from, step_, std::min(measured, outer.size - o), depth.size,
                                 along_depth) &&
                 fits;
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
    }
    return fits && state.finite();
  }

  // What a tile is made from: 16 outer by 32 of the depth.
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
