#include "autograd/kernels/gemm/packed.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "autograd/kernels/simd/register_tile.h"

namespace heed::detail {

namespace {

constexpr int most_rows = 6, most_vectors = 4;
constexpr int64_t panel_columns = most_vectors * lanes;

// Sizes of what is packed at once. A panel of B, depth by panel_columns, stays in the L1 cache
// while all rows pass by it. A block of A and one of B stay in the L2 cache together.
constexpr int64_t most_depth = 128;
constexpr int64_t block_columns = 6 * panel_columns;
constexpr int64_t block_rows = 43 * most_rows;

// Aligned to cache lines: a vector that straddles two lines costs two loads.
struct PackedBlocks {
  alignas(64) real a[block_rows * most_depth];
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
  const real* from = b.data() + column * step + row;
  for (int64_t c = 0; c < columns; c += lanes, from += lanes * step) {
    if (c + lanes <= columns) {
      transpose_columns(depth, 1, from, step, to + c, width);
      continue;
    }
    for (int64_t k = 0; k < depth; ++k) {
      for (int64_t rest = c; rest < width; ++rest) {
        to[k * width + rest] = rest < columns ? from[(rest - c) * step + k] : 0;
      }
    }
  }
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

constexpr std::array<std::array<RegisterTile, most_rows>, most_vectors> tile_table = {
    register_tiles<1, most_rows, true>, register_tiles<2, most_rows, true>,
    register_tiles<3, most_rows, true>, register_tiles<4, most_rows, true>};

// Where the blocks lie in their matrices.
struct BlockRange {
  int64_t row, rows;        // of C and A
  int64_t column, columns;  // of C and B
  int64_t begin, depth;     // columns of A, rows of B
};

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
    if (p.a.is_transposed()) {
      const int64_t row = deeper ? 0 : below;
      const int64_t rows = std::min(at.rows, p.m() - row), step = p.a.step();
      sources_[0] = {p.a.data() + begin * step + row, step, rows / lanes, depth};
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
    if (panel == 0 && !p_.a.is_transposed()) {
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
      const TileFactor a = p.a.is_transposed()
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
// read once. (Rows of a plain A are not packed but read in place.)
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

// True if packed_gemm was measured to be faster than OpenBLAS: in builds for AVX-512 on Intel's
// CPUs it takes 0.5 to 1.0 of OpenBLAS's time, except for tiny products and for a C larger than the
// L2 cache. On AMD's CPUs OpenBLAS is as fast.
bool measured_here() {
#if defined(__AVX512F__) && defined(__x86_64__)
  static const bool intel = __builtin_cpu_is("intel");
  return intel;
#else
  return false;
#endif
}

bool takes(const Product& p, bool forced) {
  if (forced) {
    return true;
  }
  if (!measured_here() || p.m() < most_rows) {
    return false;
  }
  // For small products OpenBLAS has kernels that do not pack, but it packs a transposed B all the
  // same. A C larger than the L2 cache is slow here, because all of it is read and written once for
  // each most_depth of k.
  constexpr int64_t most_of_c = (int64_t{2} << 20) / static_cast<int64_t>(sizeof(real));
  const bool rows_by_rows = !p.a.is_transposed() && p.b.is_transposed();
  const int64_t least_work = rows_by_rows ? 1 << 12 : 1 << 20;
  const int64_t least_width = rows_by_rows ? lanes : panel_columns;
  return std::min(p.n(), p.k()) >= least_width && p.m() * p.n() * p.k() >= least_work &&
         p.m() * p.n() <= most_of_c;
}

// Every number of C is a sum in the order of k, in steps that depend on k alone.
Granule granule() { return {32, 32}; }

}  // namespace

const ProductKernel vector_products{takes, packed_gemm, granule};

void packed_gemm(const Product& p) {
  for_parts(p.n(), block_columns, panel_columns, [&](int64_t column, int64_t columns) {
    for_parts(p.k(), most_depth, lanes, [&](int64_t begin, int64_t depth) {
      BlockRange at{0, 0, column, columns, begin, depth};
      pack_columns(p, at);
      for_parts(p.m(), block_rows, most_rows, [&](int64_t row, int64_t rows) {
        at.row = row;
        at.rows = rows;
        if (p.a.is_transposed()) {
          pack_transpose(p, at);
        }
        multiply_blocks(p, at, p.add || begin > 0);
      });
    });
  });
}

}  // namespace heed::detail
