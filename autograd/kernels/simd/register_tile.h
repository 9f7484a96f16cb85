// The innermost loop of matrix products: a block of C that is accumulated in registers, and the
// transposition that packs what it reads.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "autograd/kernels/product.h"
#include "autograd/kernels/simd/simd.h"

namespace heed::detail {

// Matrix A of a product, plain or transposed: element (i, k) is data[i * row_step + k *
// depth_step].
struct TileFactor {
  const real* data;
  int64_t row_step;
  int64_t depth_step;
};

// What to prefetch: the first `vectors` vectors of rows that are `step` apart, as many rows as a
// tile has. The addresses need not be valid.
struct Prefetch {
  const real* data = nullptr;
  int64_t step = 0;
  int64_t vectors = 0;
};

// C (rows, vectors * lanes) = A (rows, depth) B (depth, vectors * lanes), added to C when `add` is
// set; rows of B and C are ldb and ldc apart. All loops but the one over the depth unroll, and
// `sum` stays in registers: rows + vectors loads serve rows * vectors multiply-adds. Every number
// of C is the same chain of multiply_add, whatever the tile's size: a part of a product has the
// bits of the whole.
//
// With `fetching`, C and then `ahead` are prefetched, one vector in each step. Prefetching all of
// it at once would fill the core's line fill buffers and delay the loads of A and B.
//
// `factor` is a reference, because a copy on the stack would be read by wider loads than it was
// written with. Such a load is not forwarded from the stores: it waits until all stores before it,
// those of the last tile included, have left the core.
template <int rows, int vectors, bool fetching>
void register_tile(int64_t depth, const TileFactor& factor, const real* b, int64_t ldb, real* c,
                   int64_t ldc, bool add, const Prefetch& ahead) {
  const real* a = factor.data;
  const int64_t row_step = factor.row_step, depth_step = factor.depth_step;
  Vector sum[rows][vectors] = {};
  const auto step = [&]() __attribute__((always_inline)) {
    Vector row[vectors];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
      row[v] = load(b + v * lanes);
    }
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
      const Vector number = broadcast(a[i * row_step]);
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) {
        sum[i][v] = multiply_add(number, row[v], sum[i][v]);
      }
    }
    a += depth_step;
    b += ldb;
  };
  int64_t left = depth;
  const auto steps_that_fetch = [&](const Prefetch& soon, auto to_write)
      __attribute__((always_inline)) {
    for (int64_t v = 0; v < soon.vectors && left >= rows; ++v, left -= rows) {
      const real* next = soon.data + v * lanes;
#pragma GCC unroll 1
      for (int i = 0; i < rows; ++i, next += soon.step) {
        if constexpr (to_write) {
          __builtin_prefetch(next, 1);
        } else {
          __builtin_prefetch(next);
        }
        step();
      }
    }
  };
  if constexpr (fetching) {
    steps_that_fetch({c, ldc, vectors}, std::true_type());
    steps_that_fetch(ahead, std::false_type());
  }
  for (; left > 0; --left) {
    step();
  }
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
      real* to = c + i * ldc + v * lanes;
      store(to, add ? load(to) + sum[i][v] : sum[i][v]);
    }
  }
}

using RegisterTile = void (*)(int64_t, const TileFactor&, const real*, int64_t, real*, int64_t,
                              bool, const Prefetch&);

// register_tile of 1 to `most` rows.
template <int vectors, int most, bool fetching>
static constexpr std::array<RegisterTile, most> register_tiles = [
]<int... rows>(std::integer_sequence<int, rows...>) {
  return std::array<RegisterTile, most>{register_tile<rows + 1, vectors, fetching>...};
}
(std::make_integer_sequence<int, most>());

// to[k][c] = factor * from[c][k] for k < width, c < lanes; the rows are from_step and to_step
// apart.
inline void transpose_columns(int64_t width, real factor, const real* from, int64_t from_step,
                              real* to, int64_t to_step) {
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
      store(to + (k + c) * to_step, rows[c]);
    }
  }
  for (; k < width; ++k) {
    for (int64_t c = 0; c < lanes; ++c) {
      to[k * to_step + c] = factor * from[c * from_step + k];
    }
  }
}

// The same of any number of rows, filled up with zeros: to[k][c] for all c < to_step.
inline void transpose_padded(int64_t rows, int64_t width, real factor, const real* from,
                             int64_t from_step, real* to, int64_t to_step) {
  int64_t c = 0;
  for (; c + lanes <= rows; c += lanes) {
    transpose_columns(width, factor, from + c * from_step, from_step, to + c, to_step);
  }
  for (int64_t k = 0; k < width && c < to_step; ++k) {
    for (int64_t rest = c; rest < to_step; ++rest) {
      to[k * to_step + rest] = rest < rows ? factor * from[rest * from_step + k] : 0;
    }
  }
}

}  // namespace heed::detail
