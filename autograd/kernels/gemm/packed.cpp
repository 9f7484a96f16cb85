#include "autograd/kernels/gemm/packed.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "autograd/kernels/simd/register_tile.h"

namespace heed::detail {

namespace {

// Of 32 registers, 24 gather sums, four hold a row of B and one a number of A; of 16, 12, two and
// one. (6 rows by 4 vectors on 16 registers spill to memory: 62 instead of 92 GFLOP/s with AVX2.)
constexpr bool many_registers = vector_registers == 32;
constexpr int most_rows = 6, most_vectors = many_registers ? 4 : 2;
constexpr int64_t panel_columns = most_vectors * lanes;

// Sizes of what is packed at once. A panel of B, depth by panel_columns, passes through the L1
// cache while all rows pass by it. A block of A stays in the L2 cache, together with one of B if
// that is small; the L3 cache holds larger ones. The depth is part of the bits, and so the same for
// every width.
constexpr int64_t most_depth = 384, depth_step = 16;
constexpr int64_t block_columns = (many_registers ? 6 : 24) * panel_columns;
constexpr int64_t block_rows = (many_registers ? 24 : 12) * most_rows;

// Aligned to cache lines: a vector that straddles two lines costs two loads.
struct PackedBlocks {
  alignas(64) real a[block_rows * most_depth + lanes];  // pack_tile stores whole vectors
  alignas(64) real b[block_columns * most_depth];
};

PackedBlocks& packed_blocks() {
  thread_local const auto blocks = std::make_unique_for_overwrite<PackedBlocks>();
  return *blocks;
}

// Cuts n into the fewest parts of at most `most`, as even as multiples of `multiple` allow:
// body(begin, size).
template <class Body>
void for_parts(int64_t n, int64_t most, int64_t multiple, Body&& body) {
  const int64_t parts = (n + most - 1) / most;
  const int64_t size = round_up((n + parts - 1) / parts, multiple);
  for (int64_t begin = 0; begin < n; begin += size) {
    body(begin, std::min(size, n - begin));
  }
}

// Packs up to panel_columns columns of B. Each row is padded with zeros to whole vectors.
void pack_panel(ConstMatrix b, int64_t row, int64_t column, int64_t depth, int64_t columns,
                real* to) {
  const int64_t width = round_up(columns, lanes);
  const int64_t step = b.step();
  if (!b.is_transposed()) {
    const real* from = b.data() + row * step + column;
    for (int64_t k = 0; k < depth; ++k, from += step, to += width) {
      std::fill(std::copy_n(from, columns, to), to + width, real{0});
    }
    return;
  }
  transpose_padded(columns, depth, 1, b.data() + column * step + row, step, to, width);
}

// For a block of C whose rows are not whole vectors: computes it in a buffer whose rows are.
void partial_tile(RegisterTile tile, int64_t depth, const TileFactor& a, const real* b,
                  int64_t rows, int64_t columns, int64_t width, real* c, int64_t ldc, bool add,
                  const Prefetch& ahead) {
  real whole[most_rows * panel_columns] = {};
  for (int64_t i = 0; add && i < rows; ++i) {
    std::copy_n(c + i * ldc, columns, whole + i * width);
  }
  tile(depth, a, b, width, whole, width, add, ahead);
  for (int64_t i = 0; i < rows; ++i) {
    std::copy_n(whole + i * width, columns, c + i * ldc);
  }
}

// tile_table[vectors - 1][rows - 1]
constexpr auto tile_table = []<int... v>(std::integer_sequence<int, v...>) {
  return std::array{register_tiles<v + 1, most_rows, true>...};
}
(std::make_integer_sequence<int, most_vectors>());

// Where the blocks lie in their matrices.
struct BlockRange {
  int64_t row, rows;        // of C and A
  int64_t column, columns;  // of C and B
  int64_t begin, depth;     // columns of A, rows of B
};

// Whether rows of A are packed as well. With deep blocks that pays from 500 x 500 on; plain rows of
// a shallow block are short enough to be read in place.
bool packs_a(const Product& p, int64_t depth) {
  constexpr int64_t shallow = 192;
  return depth > shallow || p.a.is_transposed();
}

// What this thread will read next from outside its packed blocks. Each tile prefetches a part of
// it. In the first panel that is the rows of A, unless they are packed, that the next tile is the
// first to read. In later panels it is the source of the next packed blocks.
class Upcoming {
 public:
  Upcoming(const Product& p, const BlockRange& at) : p_(p), at_(at) {
    const int64_t below = at.row + at.rows;
    const bool deeper = below == p.m();  // the next block of A begins a new depth
    const int64_t begin = deeper ? at.begin + at.depth : at.begin;
    const int64_t depth = std::min(at.depth, p.k() - begin);
    if (depth <= 0) {
      return;
    }
    if (packs_a(p, at.depth)) {
      const int64_t row = deeper ? 0 : below;
      const int64_t rows = std::min(at.rows, p.m() - row), step = p.a.step();
      sources_[0] = p.a.is_transposed()
                        ? Source{p.a.data() + begin * step + row, step, rows / lanes, depth}
                        : Source{p.a.data() + row * step + begin, step, depth / lanes, rows};
    }
    if (deeper) {
      const real* const b = p.b.data();
      const int64_t step = p.b.step();
      sources_[1] = p.b.is_transposed()
                        ? Source{b + at.column * step + begin, step, depth / lanes, at.columns}
                        : Source{b + begin * step + at.column, step, at.columns / lanes, depth};
    }
  }

  // The part for a tile of `rows` rows of A, in the panel that begins at column `panel`.
  Prefetch next(const TileFactor& a, int64_t rows, int64_t panel) {
    if (panel == 0 && !packs_a(p_, at_.depth)) {
      return {a.data + rows * p_.a.step(), p_.a.step(), at_.depth / lanes};
    }
    for (Source& s : sources_) {
      if (s.rows > 0) {
        const Prefetch ahead{s.data, s.step, s.vectors};
        s.data += rows * s.step;
        s.rows -= rows;
        return ahead;
      }
    }
    return {};
  }

 private:
  struct Source {
    const real* data;
    int64_t step, vectors, rows;
  };

  const Product& p_;
  const BlockRange& at_;
  std::array<Source, 2> sources_{};
};

void multiply_blocks(const Product& p, const BlockRange& at, bool add) {
  const real* b = packed_blocks().b;
  const int64_t step = p.c.step();
  Upcoming upcoming(p, at);
  for (int64_t j = 0; j < at.columns; j += panel_columns) {
    const int64_t columns = std::min(panel_columns, at.columns - j);
    const int64_t width = round_up(columns, lanes);
    for (int64_t first = 0; first < at.rows; first += most_rows) {
      const int64_t rows = std::min<int64_t>(most_rows, at.rows - first);
      const real* const from = p.a.data() + (at.row + first) * p.a.step() + at.begin;
      const TileFactor a = packs_a(p, at.depth)
                               ? TileFactor{packed_blocks().a + first * at.depth, 1, rows}
                               : TileFactor{from, p.a.step(), 1};
      const RegisterTile tile =
          tile_table[static_cast<size_t>(width / lanes - 1)][static_cast<size_t>(rows - 1)];
      real* c = p.c.data() + (at.row + first) * step + at.column + j;
      const Prefetch ahead = upcoming.next(a, rows, j);
      if (columns == width) {
        tile(at.depth, a, b, width, c, step, add, ahead);
      } else {
        partial_tile(tile, at.depth, a, b, rows, columns, width, c, step, add, ahead);
      }
    }
    b += at.depth * width;
  }
}

void pack_columns(const Product& p, const BlockRange& at) {
  real* b = packed_blocks().b;
  for (int64_t j = 0; j < at.columns; j += panel_columns) {
    const int64_t columns = std::min(panel_columns, at.columns - j);
    pack_panel(p.b, at.begin, at.column + j, at.depth, columns, b);
    b += at.depth * round_up(columns, lanes);
  }
}

// `count` tiles of most_rows rows of the transpose of A: depth by most_rows numbers each.
template <int count>
void pack_tiles(const real* from, int64_t step, int64_t depth, real* to) {
  for (int64_t k = 0; k < depth; ++k, from += step, to += most_rows) {
#pragma GCC unroll 16
    for (int64_t t = 0; t < count; ++t) {
      std::memcpy(to + t * depth * most_rows, from + t * most_rows, most_rows * sizeof(real));
    }
  }
}

// Packs the rows of a transposed A, tile by tile; several tiles at once, so that each cache line is
// read once.
void pack_transpose(const Product& p, const BlockRange& at) {
  constexpr int64_t group = 8 * most_rows;
  const int64_t step = p.a.step();
  const real* from = p.a.data() + at.begin * step + at.row;
  real* to = packed_blocks().a;
  int64_t i = 0;
  for (; i + group <= at.rows; i += group) {
    pack_tiles<8>(from + i, step, at.depth, to + i * at.depth);
  }
  for (; i + most_rows <= at.rows; i += most_rows) {
    pack_tiles<1>(from + i, step, at.depth, to + i * at.depth);
  }
  const int64_t rest = at.rows - i;
  for (int64_t k = 0; k < at.depth; ++k) {
    std::copy_n(from + k * step + i, rest, to + i * at.depth + k * rest);
  }
}

// A tile of plain rows of A, transposed: depth by `rows` numbers. Squares of lanes x lanes are
// transposed in registers, as many as it takes to hold a column of the tile; rows beyond the tile
// repeat its last one. A column is stored from left to right, and what its last store writes beyond
// its end is overwritten by the next column.
real* pack_tile(const real* from, int64_t step, int64_t rows, int64_t depth, real* to) {
  int64_t k = 0;
  if (rows == most_rows) {
    constexpr int64_t squares = (most_rows + lanes - 1) / lanes;
    for (; k + lanes <= depth; k += lanes, to += lanes * most_rows) {
      Vector v[squares][lanes];
#pragma GCC unroll 8
      for (int64_t s = 0; s < squares; ++s) {
#pragma GCC unroll 16
        for (int64_t r = 0; r < lanes; ++r) {
          v[s][r] = load(from + std::min<int64_t>(s * lanes + r, most_rows - 1) * step + k);
        }
        transpose_square(v[s]);
      }
#pragma GCC unroll 16
      for (int64_t column = 0; column < lanes; ++column) {
#pragma GCC unroll 8
        for (int64_t s = 0; s < squares; ++s) {
          store(to + column * most_rows + s * lanes, v[s][column]);
        }
      }
    }
  }
  for (; k < depth; ++k) {
    for (int64_t r = 0; r < rows; ++r) {
      *to++ = from[r * step + k];
    }
  }
  return to;
}

void pack_plain(const Product& p, const BlockRange& at) {
  const int64_t step = p.a.step();
  real* to = packed_blocks().a;
  for (int64_t i = 0; i < at.rows; i += most_rows) {
    const real* const from = p.a.data() + (at.row + i) * step + at.begin;
    to = pack_tile(from, step, std::min<int64_t>(most_rows, at.rows - i), at.depth, to);
  }
}

// y_r = sum_k M_rk x_k for `rows` rows of M that lie along k, `step` apart; x lies along k, too.
template <int rows>
void row_sums(const real* m, int64_t step, const real* x, int64_t depth, real* y) {
  Vector columns[rows][column_vectors] = {};
  const auto add = [&](const real* from, int64_t from_step, const real* by)
      __attribute__((always_inline)) {
#pragma GCC unroll 4
    for (int64_t v = 0; v < column_vectors; ++v) {
      const Vector factor = load(by + v * lanes);
#pragma GCC unroll 8
      for (int r = 0; r < rows; ++r) {
        columns[r][v] = multiply_add(load(from + r * from_step + v * lanes), factor, columns[r][v]);
      }
    }
  };
  int64_t k = 0;
  for (; k + vector_block <= depth; k += vector_block) {
    add(m + k, step, x + k);
  }
  if (k < depth) {  // filled up with zeros
    real rest[rows + 1][vector_block] = {};
    for (int r = 0; r < rows; ++r) std::copy(m + r * step + k, m + r * step + depth, rest[r]);
    std::copy(x + k, x + depth, rest[rows]);
    add(rest[0], vector_block, rest[rows]);
  }
  for (int r = 0; r < rows; ++r) y[r] = sum_of_columns(columns[r]);
}

// sums (n) += x_0 row_0 + x_1 row_1 + ... of `rows` rows, `step` apart, one after the other.
template <int rows>
void add_rows(const real* m, int64_t step, const real* x, int64_t n, real* sums) {
#pragma omp simd
  for (int64_t j = 0; j < n; ++j) {
    real sum = sums[j];
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) sum = multiply_add(x[r], m[r * step + j], sum);
    sums[j] = sum;
  }
}

// c = M x, or added to c, for a matrix M (n, k) and a vector: C if one of its sides is 1. A row of
// C is c = B^T a.
void multiply_vector(const Product& p) {
  const bool row = p.m() == 1;
  const ConstMatrix m = row ? p.b.transposed() : p.a, x = row ? p.a.transposed() : p.b;
  const int64_t n = m.rows(), depth = m.columns(), step = m.step();
  const int64_t x_step = x.is_transposed() ? 1 : x.step(), c_step = row ? 1 : p.c.step();
  thread_local std::vector<real> memory;  // x, the sums, those of a part of the depth
  memory.resize(std::max(memory.size(), static_cast<size_t>(depth + 2 * n)));
  real *const by = memory.data(), *const sums = by + depth, *const part = sums + n;
  for (int64_t k = 0; k < depth; ++k) by[k] = x.data()[k * x_step];
  if (m.is_transposed()) {
    std::fill_n(sums, n, real{0});
    for_parts(depth, most_depth, depth_step, [&](int64_t k, int64_t size) {
      std::fill_n(part, n, real{0});
      const int64_t end = k + size;
      for (; k + 8 <= end; k += 8) add_rows<8>(m.data() + k * step, step, by + k, n, part);
      for (; k < end; ++k) add_rows<1>(m.data() + k * step, step, by + k, n, part);
      for (int64_t j = 0; j < n; ++j) sums[j] += part[j];
    });
  } else {
    int64_t i = 0;
    for (; i + 4 <= n; i += 4) row_sums<4>(m.data() + i * step, step, by, depth, sums + i);
    for (; i < n; ++i) row_sums<1>(m.data() + i * step, step, by, depth, sums + i);
  }
  for (int64_t i = 0; i < n; ++i) {
    real& c = p.c.data()[i * c_step];
    c = p.add ? c + sums[i] : sums[i];
  }
}

// C = A B for up to 16 rows, as of a batch that is generated (no more than a tile is wide), and a
// transposed B, which takes longer to pack than to multiply: C^T = B^T A^T, which reads the rows of
// B^T as they lie. The chain of multiply_add for a number of C is that of all other products.
void multiply_few_rows(const Product& p) {
  const ConstMatrix rows_of_b = p.b.transposed();
  const int64_t step = rows_of_b.step(), width = round_up(p.m(), lanes);
  real *const factor = packed_blocks().b, *const sums = packed_blocks().a;  // of A^T and C^T
  real* const c = p.c.data();
  for_parts(p.n(), block_columns, most_rows, [&](int64_t column, int64_t columns) {
    for (int64_t j = 0; p.add && j < columns; ++j) {
      for (int64_t i = 0; i < p.m(); ++i) sums[j * width + i] = c[i * p.c.step() + column + j];
    }
    for_parts(p.k(), most_depth, depth_step, [&](int64_t begin, int64_t depth) {
      pack_panel(p.a.transposed(), begin, 0, depth, p.m(), factor);
      for (int64_t j = 0; j < columns; j += most_rows) {
        const int64_t rows = std::min<int64_t>(most_rows, columns - j);
        const real* const from = rows_of_b.data() + (column + j) * step + begin;
        tile_table[static_cast<size_t>(width / lanes - 1)][static_cast<size_t>(rows - 1)](
            depth, {from, step, 1}, factor, width, sums + j * width, width, p.add || begin > 0,
            {from + rows * step, step, depth / lanes});
      }
    });
    for (int64_t i = 0; i < p.m(); ++i) {
      for (int64_t j = 0; j < columns; ++j) c[i * p.c.step() + column + j] = sums[j * width + i];
    }
  });
}

}  // namespace

void packed_gemm(const Product& p) {
  if (p.k() == 0) {
    if (!p.add) clear(p.c);
    return;
  }
  if (p.m() == 1 || p.n() == 1) {
    multiply_vector(p);
    return;
  }
  if (p.m() <= std::min<int64_t>(16, panel_columns) && p.b.is_transposed()) {
    multiply_few_rows(p);
    return;
  }
  for_parts(p.n(), block_columns, panel_columns, [&](int64_t column, int64_t columns) {
    for_parts(p.k(), most_depth, depth_step, [&](int64_t begin, int64_t depth) {
      BlockRange at{0, 0, column, columns, begin, depth};
      pack_columns(p, at);
      for_parts(p.m(), block_rows, most_rows, [&](int64_t row, int64_t rows) {
        at.row = row;
        at.rows = rows;
        if (p.a.is_transposed()) {
          pack_transpose(p, at);
        } else if (packs_a(p, depth)) {
          pack_plain(p, at);
        }
        multiply_blocks(p, at, p.add || begin > 0);
      });
    });
  });
}

}  // namespace heed::detail
