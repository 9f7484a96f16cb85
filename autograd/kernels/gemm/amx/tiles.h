// The microkernel of products on AMX, and the epilogue of its blocks; only for builds with
// HEED_HAS_AMX.
//
// multiply_block computes a block of 32 x 32 numbers of C from split blocks of A and B
// (split.h) with the tile registers as in instructions.h: tiles 0 to 3 accumulate the block
// over the whole K loop; each step of it loads the parts of A into tiles 4 and 5, those of B into 6
// and 7, and multiplies the pairs of parts that the format keeps (parts.h).
//
// A product of two tiles takes the AMX unit 16 cycles, four of them 64, while the rest of the core
// has nothing to do. So the caller passes work to overlap with: prefetching, and the epilogue of
// the previous block, a row or two after every four products.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "autograd/kernels/gemm/amx/split.h"

namespace heed::detail {

// All eight tile registers of this thread while the object lives; not nested.
class TileRegisters {
 public:
  TileRegisters() { configure_tiles(); }
  ~TileRegisters() { release_tiles(); }
  TileRegisters(const TileRegisters&) = delete;
  TileRegisters& operator=(const TileRegisters&) = delete;
};

// C (32, 32) = A (32, depth) B (depth, 32), added to C when `add` is set, for `steps` blocks of 32
// along the depth; rows of C are ldc apart. Calls overlapped() after every four products of tiles,
// Format::products times a step. A scaled format's result still has to be multiplied by the inverse
// scales.
template <class Format, class Overlapped>
void multiply_block(int64_t steps, const typename Format::Step* a, const typename Format::Step* b,
                    real* c, int64_t ldc, bool add, Overlapped&& overlapped) {
  const auto load_a = [&](int part) { load_a_tiles(a->tiles[part][0], a->tiles[part][1]); };
  const auto load_b = [&](int part) { load_b_tiles(b->tiles[part][0], b->tiles[part][1]); };
  const auto multiply = [&] {
    Format::add_tile_products();
    overlapped();
  };
  const auto row_bytes = static_cast<size_t>(ldc) * sizeof(real);
  if (add) {
    before_tile_loads(c);
    load_c_tiles(c, row_bytes);
  } else {
    zero_c_tiles();
  }
  for (const auto* const end = a + steps; a < end; ++a, ++b) {
    Format::multiply_step(load_a, load_b, multiply);
  }
  store_c_tiles(c, row_bytes);
}

// A block of C, up to 32 x 32.
struct Destination {
  real* c;
  int64_t ldc;
  int64_t rows, columns;
  bool add;

  // True if multiply_block can write it without an epilogue.
  bool takes_tiles() const { return !add && rows == block_side && columns == block_side; }
};

// Writes a finished block to C, one row at a time, so that the work overlaps with the next block:
// multiplies it by the inverse scales, and stores or adds the rows and columns that C has.
template <bool scaled>
class BlockEpilogue {
 public:
  // block (32, 32) must stay until finish() or the next start().
  void start(const real* block, const Destination& to) {
    from_ = block;
    to_ = to;
  }
  // The inverse scales of the block's rows and columns. They are copied: their Steps may be
  // overwritten before the last row is done.
  void set_scales(const real* rows, const real* columns) {
    std::copy_n(rows, block_side, row_scale_);
    std::copy_n(columns, block_side, column_scale_);
    row_ = 0;
  }

  void next_row() {
    if (to_.rows == 0) {
      return;
    }
    if (to_.columns == block_side) {
      put(block_side);
    } else {
      put(to_.columns);
    }
    from_ += block_side;
    to_.c += to_.ldc;
    row_ += scaled ? 1 : 0;
    --to_.rows;
  }
  void finish() {
    while (to_.rows > 0) {
      next_row();
    }
  }

 private:
  [[gnu::always_inline]] void put(int64_t columns) {
#pragma omp simd
    for (int64_t c = 0; c < columns; ++c) {
      real sum = from_[c];
      if constexpr (scaled) {
        sum = sum * row_scale_[row_] * column_scale_[c];
      }
      to_.c[c] = to_.add ? to_.c[c] + sum : sum;
    }
  }

  const real* from_ = nullptr;
  Destination to_{};
  int64_t row_ = 0;
  alignas(64) real row_scale_[scaled ? block_side : 1], column_scale_[scaled ? block_side : 1];
};

// Spreads `items` of work evenly over `slots` calls.
class EvenSchedule {
 public:
  EvenSchedule(int64_t items, int64_t slots) : items_(items), slots_(slots) {}
  // Calls work() if an item is due in this slot.
  template <class Work>
  [[gnu::always_inline]] void next_slot(Work&& work) {
    credit_ += items_;
    if (credit_ >= slots_) {
      credit_ -= slots_;
      work();
    }
  }

 private:
  int64_t items_, slots_, credit_ = 0;
};

}  // namespace heed::detail
