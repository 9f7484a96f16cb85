// The scales of Float16x2 (parts.h), and the part of a factor that its split blocks cannot hold.
// Only for builds with HEED_HAS_AMX.
//
// A row of A or a column of B has one scale, and float16 covers 40 powers of two. So numbers far
// below the largest one of their row keep few digits or none. A sum can depend on those numbers
// alone, if the other factor is large where they are and small elsewhere; a product in float32
// would be right there.
//
//     numbers down to 2^-22 of the largest    are accurate enough for any sum
//     a few numbers below                     what is missing of each is a Remainder; the product
//                                             adds it in float32
//     more, or a number from 2^98 on          the format does not fit; the product uses another
//
// Factors of a few hundred thousand normally distributed numbers usually have some that are so
// small.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

#include "autograd/kernels/gemm/amx/parts.h"
#include "autograd/kernels/simd/register_tile.h"

namespace heed::detail {

// The part of 32 rows of A, or columns of B, over a range of the depth, that their split blocks do
// not hold.
struct Remainder {
  struct Number {
    int32_t outer, k;  // from the first of the 32, and from the beginning of the range
    real missing;
  };
  static constexpr int64_t most = 32;

  bool fits = true;  // false: the split blocks are of no use
  int64_t count = 0;
  Number numbers[most];
};

// The largest and the smallest magnitude in each lane of the vectors passed to see().
class Span {
 public:
  Span() = default;
  Span(TileVector largest, TileBits smallest) : largest_(largest), smallest_(smallest) {}

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
  // order_of() of the smallest one: twice its bits, minus 1.
  TileBits smallest() const { return smallest_; }

 private:
  // Orders magnitudes as unsigned integers: drops the sign, and puts 0 behind all others.
  static TileBits order_of(TileVector v) {
    const TileBits bits = std::bit_cast<TileBits>(v);
    return bits + bits - 1;
  }

  TileVector largest_{};
  TileBits smallest_ = ~TileBits{};
};

// A power of two for each row of A or column of B.
class OuterScales {
 public:
  static constexpr int64_t most_outer = 512;

  // Makes all scales chosen later negative, so that the negated numbers are split.
  void negate() { sign_ = uint32_t{1} << 31; }

  // Chooses scales for up to most_outer rows or columns, `depth` numbers each; the layout is that
  // of Splitter. Numbers are read in the order of memory, which the CPU's prefetchers follow. NaNs
  // are ignored: they become NaN wherever they are multiplied.
  void measure(const real* data, int64_t step, int64_t outer, int64_t depth, bool along_depth) {
    if (along_depth) {
      measure_rows(data, step, outer, depth);
      return;
    }
    Span spans[most_outer / tile_side];
    constexpr int64_t together = 4;  // rows of memory at once: their cache misses overlap
    const auto see_rows = [&]<int64_t... row>(std::integer_sequence<int64_t, row...>) {
      int64_t i = 0;
      for (; i + tile_side <= outer; i += tile_side) {
        Span& span = spans[i / tile_side];
        (span.see(load_row(data + row * step + i)), ...);
      }
      if (i < outer) {
        Span& span = spans[i / tile_side];
        (span.see(load_first(outer - i, data + row * step + i)), ...);
      }
      data += static_cast<int64_t>(sizeof...(row)) * step;
    };
    int64_t k = 0;
    for (; k + together <= depth; k += together) {
      see_rows(std::make_integer_sequence<int64_t, together>());
    }
    for (; k < depth; ++k) {
      see_rows(std::make_integer_sequence<int64_t, 1>());
    }
    for (int64_t i = 0; i < round_up(outer, block_side); i += tile_side) {
      choose(i, spans[i / tile_side]);
    }
  }

  // Instead of measure(): chooses one scale for block_side rows or columns, none of whose numbers
  // is above `largest`.
  void set_largest(real largest) {
    Span span;
    span.see(largest + TileVector{});
    choose(0, span);
    choose(tile_side, span);
  }

  // to[i] = factor / scale of row or column outer + i, for i < 32.
  void store_inverse(int64_t outer, real factor, real* to) const {
    store_row(to, factor * load_row(inverse_ + outer));
    store_row(to + tile_side, factor * load_row(inverse_ + outer + tile_side));
  }

  const real* from(int64_t outer) const { return scale_ + outer; }

  // Finds what the Steps do not hold of rows or columns [outer, outer + block_side). Element (o, k)
  // of these is data[o * outer_step + k * depth_step].
  void find_remainder(int64_t outer, const real* data, int64_t outer_step, int64_t depth_step,
                      int64_t depth, Remainder& found) const {
    for (int64_t o = 0; o < block_side; ++o) {
      if (distance_[outer + o] > most_distance) {
        find_remainder_of_row(outer + o, o, data + o * outer_step, depth_step, depth, found);
      }
    }
  }
  bool has_remainder(int64_t outer) const {
    const auto up_to_most = [&](int64_t first) {
      return all_up_to(*reinterpret_cast<const TileBits*>(distance_ + first), most_distance);
    };
    return !up_to_most(outer) || !up_to_most(outer + tile_side);
  }

 private:
  static constexpr uint32_t most_distance = 22;

  void find_remainder_of_row(int64_t row, int64_t outer, const real* data, int64_t depth_step,
                             int64_t depth, Remainder& found) const {
    if (distance_[row] == too_large) {
      found.fits = false;
      return;
    }
    // 2^-22 of a largest number in [2^14, 2^15).
    constexpr real small = 0x1p-8F;
    for (int64_t k = 0; k < depth; ++k) {
      const real scaled = scale_[row] * data[k * depth_step];
      const real missing = std::abs(scaled) < small ? Float16x2::missing_of_small(scaled) : 0;
      if (missing != 0) {
        if (found.count == Remainder::most) {
          found.fits = false;
          return;
        }
        found.numbers[found.count++] = {static_cast<int32_t>(outer), static_cast<int32_t>(k),
                                        missing / scale_[row]};
      }
    }
  }

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

  void measure_rows(const real* data, int64_t step, int64_t outer, int64_t depth) {
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
      choose(first, {fold_rows(largest, larger_of), fold_rows(smallest, smaller_of)});
    }
  }

  // Computes with exponents alone: a power of two has no other bits. `target` brings the largest
  // number into [2^14, 2^15), a factor of two below float16's overflow. `least` keeps the scale and
  // its inverse normal float32 numbers: what is below 2^-97 shares the scale of 2^-97. An exponent
  // of `most` is that of numbers below 2^98: finite sums of larger ones could overflow.
  //
  // The distance is the difference of the exponents of the largest and the smallest nonzero number.
  // The largest number of a lane with only zeros and NaNs is 0.
  void choose(int64_t first, const Span& span) {
    constexpr uint32_t least = 30, most = 224, target = 14, bias = 127, two = 2;
    const TileBits exponent = std::bit_cast<TileBits>(span.largest()) >> 23;
    const TileBits used = exponent > least ? exponent : least + TileBits{};
    const TileBits scale = (two * bias + target - used) << 23 | sign_;
    store_row(scale_ + first, std::bit_cast<TileVector>(scale));
    store_row(inverse_ + first, std::bit_cast<TileVector>((used - target) << 23));
    const TileBits lowest = (span.smallest() + 1) >> 24;
    const TileBits distance = exponent > lowest ? exponent - lowest : TileBits{};
    *reinterpret_cast<TileBits*>(distance_ + first) =
        exponent > most ? too_large + TileBits{} : distance;
  }

  static constexpr uint32_t too_large = 1000;

  uint32_t sign_ = 0;
  alignas(64) real scale_[most_outer], inverse_[most_outer];
  alignas(64) uint32_t distance_[most_outer];
};

struct NoScales {
  static const real* from(int64_t) { return nullptr; }
};

}  // namespace heed::detail
