#include "autograd/kernels/gemm/amx/product.h"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "autograd/kernels/gemm/amx/split.h"
#include "autograd/kernels/gemm/amx/tiles.h"
#include "autograd/kernels/gemm/packed.h"

namespace heed::detail {

namespace {

// The loops around the microkernel are Goto and van de Geijn's, with one factor resident in the L2
// cache and the other one passing by in panels. The one with fewer rows (of A) or columns (of B) is
// resident; `outer` is its outer dimension, see split.h. Everything is in blocks of 32:
//
//   for each range of the resident factor's outer dimension      one, unless it is very long
//     for each range of the depth K
//       split that block of the resident factor                  stays in the L2 cache
//       for each 32 rows or columns of the passing factor
//         split that panel, 32 x the range of K                  stays in the L1 and L2 caches
//         for each 32 of the resident outer range
//           multiply_block: the K loop over that range of K
//           its epilogue, overlapped with the next block
//
// Each factor is split once if the outer range is the whole dimension. Otherwise the panels are
// split again for every range. C is written once for each range of K. So the range of K is as deep
// as possible (`deepest`), but shorter if that leaves room for the whole outer dimension; below
// `shallowest` the passes over C would cost more than splitting panels again.
//
// The resident block takes 512 * 384 * 3 * 2 bytes in both formats: 1.2 of an L2 cache's 2 MB, with
// the rest left to C and the passing factor. A panel, 32 x `deepest`, takes 72 KB.
template <class Format>
constexpr int64_t resident_numbers = 512 * 384 * 3 / Format::parts;
template <class Format>
constexpr int64_t deepest = 384 * 3 / Format::parts;
constexpr int64_t shallowest = 192;

template <class Format>
struct Workspace {
  typename Format::Step resident[resident_numbers<Format> / (block_side * block_side)];
  typename Format::Step panel[deepest<Format> / block_side];
  alignas(64) real blocks[2][block_side * block_side];
  Remainder resident_left[resident_numbers<Format> / (block_side * block_side)];
};

template <class Format>
Workspace<Format>& workspace() {
  thread_local const auto memory = std::make_unique_for_overwrite<Workspace<Format>>();
  return *memory;
}

// Cuts n into the fewest ranges of at most `most`, as even as whole blocks allow; returns their
// size.
int64_t even_range(int64_t n, int64_t most) {
  const int64_t whole = most / block_side * block_side;
  const int64_t ranges = (n + whole - 1) / whole;
  return round_up((n + ranges - 1) / ranges, block_side);
}

// If C has at least as many rows as columns, rows of A pass by resident columns of B; otherwise
// columns of B pass by resident rows of A. That and the ranges of the depth follow from the whole
// product, so a part of it has the same bits.
template <class Format>
class AmxProduct {
  using Step = typename Format::Step;

 public:
  explicit AmxProduct(const Product& p)
      : p_(p),
        rows_pass_(p.whole_m >= p.whole_n),
        resident_(rows_pass_ ? columns_of_b() : rows_of_a()),
        passing_(rows_pass_ ? rows_of_a() : columns_of_b()) {}

  // Not inlined: with both formats in one function, bfloat16 was 4% slower.
  [[gnu::noinline]] void run() {
    const int64_t all = rows_pass_ ? p_.n() : p_.m();
    const int64_t whole = std::min(p_.whole_m, p_.whole_n);
    const int64_t depth = even_range(
        p_.k(), std::clamp(resident_numbers<Format> / whole, shallowest, deepest<Format>));
    const int64_t outer = even_range(all, resident_numbers<Format> / depth);
    for (int64_t first = 0; first < all; first += outer) {
      for (int64_t begin = 0; begin < p_.k(); begin += depth) {
        multiply_resident({first, std::min(outer, all - first)},
                          {begin, std::min(depth, p_.k() - begin)});
      }
    }
    epilogue_.finish();
  }

 private:
  Splitter<Format> rows_of_a() const {
    return {p_.a.data(), p_.a.step(), !p_.a.is_transposed(), p_.a.is_transposed()};
  }
  Splitter<Format> columns_of_b() const {
    return {p_.b.data(), p_.b.step(), p_.b.is_transposed(), p_.b.is_transposed()};
  }

  // Panels that do not fit the format are collected. They are multiplied together before the next
  // panel that fits, or at the end: one large product costs less than many small ones.
  void multiply_resident(Range outer, Range depth) {
    resident_.split(outer, depth, space_.resident, space_.resident_left);
    const int64_t all = rows_pass_ ? p_.m() : p_.n();
    Range waiting{0, 0};
    for (int64_t begin = 0; begin < all; begin += block_side) {
      const Range passing{begin, std::min(block_side, all - begin)};
      Remainder left;
      passing_.split(passing, depth, space_.panel, &left);
      if (left.fits) {
        multiply_otherwise(waiting, outer, depth);
        multiply_panel(passing, outer, depth, left);
        waiting = {begin + passing.size, 0};
      } else {
        waiting.size += passing.size;
      }
    }
    multiply_otherwise(waiting, outer, depth);
  }

  // Multiplies the panel by the resident blocks, in runs of blocks that all fit the format or all
  // do not.
  void multiply_panel(Range passing, Range outer, Range depth, const Remainder& panel_left) {
    const Remainder* const left = space_.resident_left;
    const int64_t blocks = blocks_in(outer.size);
    for (int64_t first = 0, end = 0; first < blocks; first = end) {
      while (end < blocks && left[end].fits == left[first].fits) {
        ++end;
      }
      const int64_t begin = first * block_side;
      const Range run{outer.begin + begin, std::min(end * block_side, outer.size) - begin};
      if (left[first].fits) {
        multiply_blocks(passing, run, first, depth);
        add_remainders(passing, run, first, depth, panel_left);
      } else {
        multiply_otherwise(passing, run, depth);
      }
    }
  }

  // Multiplies the panel by a run of resident blocks that begins at block `first`.
  void multiply_blocks(Range passing, Range run, int64_t first, Range depth) {
    const int64_t steps = blocks_in(depth.size), step = p_.c.step();
    const Step* resident = space_.resident + first * steps;
    // All 32 rows of the previous block are written to C during this block's products.
    const int64_t rows_per_slot = (block_side - 1) / (Format::products * steps) + 1;
    for (int64_t j = 0; j < run.size; j += block_side, resident += steps) {
      const Range part{run.begin + j, std::min(block_side, run.size - j)};
      const auto [rows, columns] = rows_pass_ ? std::pair(passing, part) : std::pair(part, passing);
      const Destination c{p_.c.data() + rows.begin * step + columns.begin, step, rows.size,
                          columns.size, p_.add || depth.begin > 0};
      const bool direct = !Format::scaled && c.takes_tiles();
      real* block = direct ? c.c : space_.blocks[buffer_];
      const Step* panel = space_.panel;
      const auto [a, b] = rows_pass_ ? std::pair(panel, resident) : std::pair(resident, panel);
      int64_t fetched = 0;
      // Prefetched only: may be past the end of C.
      const real* next_c = c.c + block_side * (rows_pass_ ? 1 : step);
      multiply_block<Format>(steps, a, b, block, direct ? c.ldc : block_side, false, [&] {
        for (int64_t r = 0; r < rows_per_slot; ++r) {
          epilogue_.next_row();
        }
        if (fetched < block_side) {
          __builtin_prefetch(next_c + fetched * step, 1);
          __builtin_prefetch(next_c + fetched * step + tile_side, 1);
          ++fetched;
        }
      });
      epilogue_.finish();
      if (!direct) {
        epilogue_.start(block, c);
        if constexpr (Format::scaled) {
          epilogue_.set_scales(a->inverse_scale, b->inverse_scale);
        }
        buffer_ = 1 - buffer_;
      }
    }
  }

  // Adds what the split blocks do not hold: the remainder of the panel times the resident run, and
  // the remainder of the run times the panel.
  void add_remainders(Range passing, Range run, int64_t first, Range depth,
                      const Remainder& panel_left) {
    if constexpr (Format::scaled) {
      // Written for passing rows of A; if columns of B pass, C and the factors are transposed.
      const auto oriented = [&](auto matrix) { return rows_pass_ ? matrix : matrix.transposed(); };
      const Matrix c = part_of(oriented(p_.c), passing, run);
      const ConstMatrix panel = part_of(oriented(rows_pass_ ? p_.a : p_.b), passing, depth);
      const ConstMatrix resident = part_of(oriented(rows_pass_ ? p_.b : p_.a), depth, run);
      add_remainder(panel_left, 0, resident, c);
      for (int64_t j = 0; j < run.size; j += block_side, ++first) {
        add_remainder(space_.resident_left[first], j, panel.transposed(), c.transposed());
      }
    }
  }

  static auto part_of(auto matrix, Range rows, Range columns) {
    return matrix.rows(rows.begin, rows.begin + rows.size)
        .columns(columns.begin, columns.begin + columns.size);
  }

  // Rows [outer, outer + 32) of c (..., n) += left (32, depth) other (depth, n)
  void add_remainder(const Remainder& left, int64_t outer, ConstMatrix other, Matrix c) {
    if (left.count > 0) {
      epilogue_.finish();
    }
    for (const Remainder::Number& number : std::span(left.numbers, left.count)) {
      const ConstMatrix from = other.rows(number.k, number.k + 1);
      const Matrix to = c.rows(outer + number.outer, outer + number.outer + 1);
      for (int64_t j = 0; j < c.columns(); ++j) {
        *to.columns(j, j + 1).data() += number.missing * *from.columns(j, j + 1).data();
      }
    }
  }

  // For blocks that the format cannot hold: float16 falls back to bfloat16, that to packed_gemm.
  void multiply_otherwise(Range passing, Range outer, Range depth) {
    if (passing.size == 0) {
      return;
    }
    epilogue_.finish();
    const auto [rows, columns] = rows_pass_ ? std::pair(passing, outer) : std::pair(outer, passing);
    Product part = p_.rows(rows.begin, rows.begin + rows.size)
                       .columns(columns.begin, columns.begin + columns.size)
                       .depth(depth.begin, depth.begin + depth.size);
    part.add = p_.add || depth.begin > 0;
    if constexpr (Format::scaled) {
      AmxProduct<Bfloat16x3>(part).run();
    } else {
      packed_gemm(part);
    }
  }

  const Product& p_;
  bool rows_pass_;
  Splitter<Format> resident_, passing_;
  Workspace<Format>& space_ = workspace<Format>();
  BlockEpilogue<Format::scaled> epilogue_;
  int buffer_ = 0;  // the one of space_.blocks to fill; the other one is in the epilogue
};

}  // namespace

bool amx_pays(const Product& p) {
  // Measured: for less work, or if padding to blocks adds half of it, there is little to gain.
  constexpr int64_t least_work = 1 << 20;
  const int64_t work = p.m() * p.n() * p.k();
  const int64_t padded =
      round_up(p.m(), block_side) * round_up(p.n(), block_side) * round_up(p.k(), block_side);
  return work >= least_work && 2 * padded <= 3 * work;
}

void amx_gemm(const Product& p, AmxFormat format) {
  const TileRegisters registers;
  if (format == AmxFormat::float16) {
    AmxProduct<Float16x2>(p).run();
  } else {
    AmxProduct<Bfloat16x3>(p).run();
  }
}

}  // namespace heed::detail
