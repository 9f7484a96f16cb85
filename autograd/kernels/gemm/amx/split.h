// float32 matrices as AMX's tiles want them, in one of the formats of amx_parts.h. Only for builds
// with HEED_HAS_AMX.
#pragma once

#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "autograd/kernels/gemm/amx/parts.h"

namespace heed::detail {

inline constexpr int64_t blocks_in(int64_t n) { return (n + block_side - 1) / block_side; }

struct Range {
  int64_t begin, size;
};

// The powers of two that lines are multiplied by, see Float16x2.
class LineScales {
 public:
  static constexpr int64_t most_lines = 512;

  // Looks at up to most_lines lines by `depth` places, as for Splitter, in the order of memory:
  // then the CPU fetches ahead from its last cache. False where a number is from 2^98 on or
  // infinite: sums that are finite may then come out infinite. NaNs are passed over, and become NaN
  // wherever they are multiplied.
  bool look(const real* data, int64_t step, int64_t lines, int64_t depth, bool along_depth) {
    if (along_depth) {
      return look_at_rows(data, step, lines, depth);
    }
    Vector top[most_lines / lanes] = {};
    for (int64_t k = 0; k < depth; ++k, data += step) {
      int64_t i = 0;
      for (; i + lanes <= lines; i += lanes) {
        top[i / lanes] = larger_magnitude(top[i / lanes], load(data + i));
      }
      if (i < lines) {
        top[i / lanes] = larger_magnitude(top[i / lanes], first_of(lines - i, data + i));
      }
    }
    bool fits = true;
    for (int64_t i = 0; i < lines; i += block_side) {
      fits = choose(i, top[i / lanes]) && fits;
      fits = choose(i + lanes, top[i / lanes + 1]) && fits;
    }
    return fits;
  }

  // For block_side lines with no larger number, instead of looking.
  void assume(real largest) {
    for (int64_t i = 0; i < block_side; i += lanes) {
      choose(i, largest + Vector{});
    }
  }

  // undo (32): what sums are multiplied by to be `factor` times the product.
  void put_undo(int64_t line, real factor, real* undo) const {
    store(undo, factor * load(undo_ + line));
    store(undo + lanes, factor * load(undo_ + line + lanes));
  }

  const real* of_line(int64_t line) const { return scale_ + line; }

 private:
  static Vector first_of(int64_t n, const real* from) {
    const auto mask = static_cast<__mmask16>((uint32_t{1} << n) - 1);
    return static_cast<Vector>(_mm512_maskz_loadu_ps(mask, from));
  }

  static constexpr auto larger_magnitude = [](Vector a, Vector b) {
    constexpr int positive_of_larger_magnitude = 0b1011;
    return static_cast<Vector>(_mm512_range_ps(static_cast<__m512>(a), static_cast<__m512>(b),
                                               positive_of_larger_magnitude));
  };

  static Vector largest_of_row(const real* row, int64_t depth) {
    Vector even{}, odd{};
    int64_t k = 0;
    for (; k + 2 * lanes <= depth; k += 2 * lanes) {
      even = larger_magnitude(even, load(row + k));
      odd = larger_magnitude(odd, load(row + k + lanes));
    }
    for (; k < depth; k += lanes) {
      even = larger_magnitude(even, first_of(std::min(lanes, depth - k), row + k));
    }
    return larger_magnitude(even, odd);
  }

  bool look_at_rows(const real* data, int64_t step, int64_t lines, int64_t depth) {
    bool fits = true;
    for (int64_t first = 0; first < round_up(lines, block_side); first += lanes) {
      Vector top[lanes] = {};
      for (int64_t i = 0; i < std::min(lanes, lines - first); ++i, data += step) {
        top[i] = largest_of_row(data, depth);
      }
      fits = choose(first, fold_rows(top, larger_magnitude)) && fits;
    }
    return fits;
  }

  bool choose(int64_t first, Vector largest) {
    constexpr uint32_t least = 30, most = 224, target = 14, bias = 127, two = 2;
    const BitsVector exponent = std::bit_cast<BitsVector>(largest) >> 23;
    const BitsVector used = exponent > least ? exponent : least + BitsVector{};
    store(scale_ + first, std::bit_cast<Vector>((two * bias + target - used) << 23));
    store(undo_ + first, std::bit_cast<Vector>((used - target) << 23));
    return _mm512_cmpgt_epu32_mask(std::bit_cast<__m512i>(exponent), _mm512_set1_epi32(most)) == 0;
  }

  alignas(64) real scale_[most_lines], undo_[most_lines];
};

struct NoScales {
  static const real* of_line(int64_t) { return nullptr; }
};

// Splits lines of a factor, 32 at a time, into steps of 32 of the depth, step after step.
template <class Format>
class Splitter {
 public:
  using Step = typename Format::Step;

  // Number (line, k) is data[line * step + k] with lines along the depth, else data[k * step +
  // line]. `transposed`: rows of a tile run across rows of the matrix.
  Splitter(const real* data, int64_t step, bool along_depth, bool transposed)
      : data_(data), step_(step), along_depth_(along_depth), transposed_(transposed) {}

  // Products with what is split from now on come out times `factor`.
  void multiply(real factor) requires(Format::scaled) { factor_ = factor; }

  // Says that no number is larger, which saves looking at them. All lines share a scale then.
  void assume(real largest) requires(Format::scaled) {
    scales_.assume(largest);
    looks_ = false;
  }

  // False where a product with `to` may not be what it is with the numbers themselves: where one is
  // infinite, in bfloat16 NaN, or has no scale. What was assumed is not looked at.
  bool split(Range lines, Range depth, Step* to) {
    if (along_depth_) {
      return transposed_ ? split_lines<true, true>(lines, depth, to)
                         : split_lines<true, false>(lines, depth, to);
    }
    return transposed_ ? split_lines<false, true>(lines, depth, to)
                       : split_lines<false, false>(lines, depth, to);
  }

 private:
  using State = typename Format::State;

  template <bool along_depth, bool transposed>
  [[gnu::noinline]] bool split_lines(Range lines, Range depth, Step* to) {
    // Lines that lie beside each other in memory are looked at together, see LineScales.
    const int64_t look = along_depth || !looks_ ? block_side : LineScales::most_lines;
    const int64_t line_step = along_depth ? step_ : 1, depth_step = along_depth ? 1 : step_;
    bool fits = true;
    State state;
    for (int64_t line = 0; line < lines.size; line += block_side) {
      const real* from = data_ + (lines.begin + line) * line_step + depth.begin * depth_step;
      if constexpr (Format::scaled) {
        if (looks_ && line % look == 0) {
          fits = scales_.look(from, step_, std::min(look, lines.size - line), depth.size,
                              along_depth) &&
                 fits;
        }
      }
      for (int64_t k = 0; k < depth.size; k += block_side, ++to) {
        if constexpr (Format::scaled) {
          scales_.put_undo(line % look, factor_, to->undo);
        }
        for (const int64_t first : {int64_t{0}, tile_side}) {
          const Tile tile = whole_tile({from + first * line_step + k * depth_step, step_},
                                       lines.size - line - first, depth.size - k, along_depth);
          split_tile<along_depth, transposed>(tile, first / tile_side, *to, state,
                                              scales_.of_line(line % look + first));
        }
      }
    }
    return fits && state.finite();
  }

  // 16 lines by 32 of the depth.
  struct Tile {
    const real* data;
    int64_t step;
  };

  // The tile, or where fewer lines or less of the depth are left, a copy with zeros beyond them.
  Tile whole_tile(Tile tile, int64_t lines, int64_t depth, bool along_depth) {
    if (lines >= tile_side && depth >= block_side) {
      return tile;
    }
    lines = std::clamp(lines, int64_t{0}, tile_side);
    depth = std::min(depth, block_side);
    std::fill_n(padded_, tile_side * block_side, real{0});
    const int64_t step = along_depth ? block_side : tile_side;
    const int64_t rows = along_depth ? lines : depth, columns = along_depth ? depth : lines;
    for (int64_t r = 0; r < rows && lines > 0; ++r) {
      std::copy_n(tile.data + r * tile.step, columns, padded_ + r * step);
    }
    return {padded_, step};
  }

  template <bool along_depth, bool transposed>
  [[gnu::always_inline]] static void split_tile(Tile tile, int64_t half, Step& to, State& state,
                                                const real* scales) {
    // A tile of A has lines as its rows, one of B pairs of the depth.
    constexpr bool of_b = along_depth == transposed;
    constexpr bool interleaved = of_b && Format::adjacent_pairs;
    Vector first_scale{}, second_scale{};
    if constexpr (Format::scaled && of_b) {
      first_scale = second_scale = load(scales);
      Format::interleave(first_scale, second_scale, state);
    }
    for (int64_t row = 0; row < tile_side; row += 4) {
      Vector first[4], second[4];
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

  // What rows [row, row + 4) of a tile are made of. Interleaved, row r is made of 2 r and 2 r + 1
  // along the depth; else of r and r + 16 in a tile of B, and of both halves of line r in one of A.
  template <bool along_depth, bool transposed, bool interleaved>
  [[gnu::always_inline]] static void load_rows(Tile tile, int64_t row, Vector* first,
                                               Vector* second) {
    const int64_t depth_step = along_depth ? 1 : tile.step;
    if constexpr (transposed && interleaved) {
      Vector columns[8];
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
        first[r] = load(from);
        second[r] = load(from + (interleaved ? 1 : tile_side) * depth_step);
      }
    }
  }

  // columns[c][r] = from[r][c] for 16 rows and 4 columns.
  [[gnu::always_inline]] static void load_columns(const real* from, int64_t step, Vector* columns) {
#pragma GCC unroll 4
    for (int64_t r = 0; r < 4; ++r) {
      // Compilers would shuffle registers together; what comes from memory needs no shuffling.
      const auto quad = [&](int64_t row) { return _mm_loadu_ps(from + row * step); };
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
  bool looks_ = Format::scaled;
  real factor_ = 1;
  [[no_unique_address]] std::conditional_t<Format::scaled, LineScales, NoScales> scales_;
  alignas(64) real padded_[tile_side * block_side];
};

}  // namespace heed::detail
