#include "autograd/attention_tile.h"

#include <array>
#include <utility>

namespace heed::detail {

namespace {

// C (rows, vectors * lanes) = or += A B, see tile_product. All loops but the one over the depth
// unroll, and `sum` stays in registers.
template <int rows, int vectors>
void register_tile(int64_t depth, TileFactor a, const real* b, int64_t ldb, real* c, int64_t ldc,
                   bool add) {
  Vector sum[rows][vectors];
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) {
      sum[i][v] = add ? load(c + i * ldc + v * lanes) : Vector{};
    }
  }
  for (int64_t k = 0; k < depth; ++k) {
    Vector row[vectors];
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) {
      row[v] = load(b + k * ldb + v * lanes);
    }
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
      const real factor = a.data[i * a.row_step + k * a.depth_step];
#pragma GCC unroll 2
      for (int v = 0; v < vectors; ++v) {
        sum[i][v] += factor * row[v];
      }
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) {
      store(c + i * ldc + v * lanes, sum[i][v]);
    }
  }
}

using Tile = void (*)(int64_t, TileFactor, const real*, int64_t, real*, int64_t, bool);

template <int vectors, int... rows>
constexpr std::array<Tile, sizeof...(rows)> tiles_of(std::integer_sequence<int, rows...>) {
  return {register_tile<rows + 1, vectors>...};
}

constexpr auto tiles_of_one = tiles_of<1>(std::make_integer_sequence<int, tile_rows>());
constexpr auto tiles_of_two = tiles_of<2>(std::make_integer_sequence<int, tile_rows>());

}  // namespace

void tile_product(int64_t rows, int64_t columns, int64_t depth, TileFactor a, const real* b,
                  int64_t ldb, real* c, int64_t ldc, bool add) {
  const auto which = static_cast<size_t>(rows - 1);
  int64_t j = 0;
  for (; j + 2 * lanes <= columns; j += 2 * lanes) {
    tiles_of_two[which](depth, a, b + j, ldb, c + j, ldc, add);
  }
  if (j < columns) {
    tiles_of_one[which](depth, a, b + j, ldb, c + j, ldc, add);
  }
}

void pack_rows(int64_t rows, int64_t width, real factor, const real* from, int64_t from_step,
               real* to) {
  const int64_t to_step = padded_width(width);
  for (int64_t r = 0; r < rows; ++r, from += from_step, to += to_step) {
#pragma omp simd
    for (int64_t k = 0; k < width; ++k) {
      to[k] = factor * from[k];
    }
    std::fill(to + width, to + to_step, real{0});
  }
}

namespace {

// to[k][c] = factor * from[c][k] for k < width, c < lanes; rows of `to` are `panel` apart.
void pack_columns(int64_t width, real factor, const real* from, int64_t from_step, real* to) {
  int64_t k = 0;
  for (; k + lanes <= width; k += lanes) {
    Vector rows[lanes];
#pragma GCC unroll 16
    for (int64_t c = 0; c < lanes; ++c) {
      rows[c] = factor * load(from + c * from_step + k);
    }
    transpose_square(rows);
#pragma GCC unroll 16
    for (int64_t c = 0; c < lanes; ++c) {
      store(to + (k + c) * panel, rows[c]);
    }
  }
  for (; k < width; ++k) {
    for (int64_t c = 0; c < lanes; ++c) {
      to[k * panel + c] = factor * from[c * from_step + k];
    }
  }
}

}  // namespace

void pack_panels(int64_t rows, int64_t width, real factor, const real* from, int64_t from_step,
                 real* to) {
  for (int64_t r = 0; r < rows; r += panel, from += panel * from_step, to += panel * width) {
    const int64_t filled = std::min(panel, rows - r);
    int64_t c = 0;
    for (; c + lanes <= filled; c += lanes) {
      pack_columns(width, factor, from + c * from_step, from_step, to + c);
    }
    for (int64_t k = 0; k < width && c < panel; ++k) {
      for (int64_t rest = c; rest < panel; ++rest) {
        to[k * panel + rest] = rest < filled ? factor * from[rest * from_step + k] : 0;
      }
    }
  }
}

}  // namespace heed::detail
