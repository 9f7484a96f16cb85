// The registers and the innermost loop of products on AMX; only for builds with HEED_HAS_AMX.
#pragma once

#include <immintrin.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "autograd/kernels/gemm/amx/split.h"

namespace heed::detail {

// All that was stored at `memory` is there after this. GCC's intrinsics for tiles do not tell the
// compiler what they read, so it drops stores to a variable that nothing else reads. Between a
// splitter's stores to memory of the heap and their use it is not needed, and cost 2%.
inline void settle(const void* memory) { __asm__ volatile("" : : "r"(memory) : "memory"); }

// All eight tile registers of this thread, 16 rows of 64 bytes.
class TileRegisters {
 public:
  TileRegisters() {
    struct alignas(64) {
      uint8_t palette = 1, start_row = 0;
      uint8_t reserved[14] = {};
      uint16_t row_bytes[16] = {};
      uint8_t rows[16] = {};
    } config;
    std::fill_n(config.row_bytes, 8, uint16_t{64});
    std::fill_n(config.rows, 8, uint8_t{tile_side});
    settle(&config);
    _tile_loadconfig(&config);
  }
  ~TileRegisters() { _tile_release(); }
  TileRegisters(const TileRegisters&) = delete;
  TileRegisters& operator=(const TileRegisters&) = delete;
};

// C (32, 32) = A (32, depth) B (depth, 32), added to C when `add` is set, the depth in steps of 32;
// rows of C are ldc apart. meanwhile() is called for every four products of tiles, which keep AMX
// busy for 64 cycles and the other units for none: Format::products times a step.
template <class Format, class Meanwhile>
void multiply_block(int64_t steps, const typename Format::Step* a, const typename Format::Step* b,
                    real* c, int64_t ldc, bool add, Meanwhile&& meanwhile) {
  const auto load_a = [&](int part) {
    _tile_loadd(4, a->tiles[part][0], 64);
    _tile_loadd(5, a->tiles[part][1], 64);
  };
  const auto load_b = [&](int part) {
    _tile_loadd(6, b->tiles[part][0], 64);
    _tile_loadd(7, b->tiles[part][1], 64);
  };
  const auto multiply = [&] {
    Format::multiply_tiles();
    meanwhile();
  };
  const auto row = static_cast<size_t>(ldc) * sizeof(real);
  real *const right = c + tile_side, *const below = c + tile_side * ldc;
  if (add) {
    settle(c);
    _tile_loadd(0, c, row);
    _tile_loadd(1, right, row);
    _tile_loadd(2, below, row);
    _tile_loadd(3, below + tile_side, row);
  } else {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }
  for (const auto* const end = a + steps; a < end; ++a, ++b) {
    Format::multiply_step(load_a, load_b, multiply);
  }
  _tile_stored(0, c, row);
  _tile_stored(1, right, row);
  _tile_stored(2, below, row);
  _tile_stored(3, below + tile_side, row);
}

// A block of C.
struct Destination {
  real* c;
  int64_t ldc;
  int64_t rows, columns;
  bool add;

  bool takes_tiles() const { return !add && rows == block_side && columns == block_side; }
};

// Adds a finished block to C, or copies it, a row at a time.
template <bool scaled>
class Delivery {
 public:
  void start(const real* block, const Destination& to) {
    from_ = block;
    to_ = to;
  }
  // What its rows and columns are to be multiplied by: copies, as the panel may hold other lines
  // before all rows are put.
  void undo(const real* rows, const real* columns) {
    std::copy_n(rows, block_side, row_undo_);
    std::copy_n(columns, block_side, column_undo_);
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
        sum = sum * row_undo_[row_] * column_undo_[c];
      }
      to_.c[c] = to_.add ? to_.c[c] + sum : sum;
    }
  }

  const real* from_ = nullptr;
  Destination to_{};
  int64_t row_ = 0;
  alignas(64) real row_undo_[scaled ? block_side : 1], column_undo_[scaled ? block_side : 1];
};

// Spreads `work` pieces evenly over `moments`.
class Pace {
 public:
  Pace(int64_t work, int64_t moments) : work_(work), moments_(moments) {}
  // Calls piece() if one is due at this moment.
  template <class Piece>
  [[gnu::always_inline]] void moment(Piece&& piece) {
    credit_ += work_;
    if (credit_ >= moments_) {
      credit_ -= moments_;
      piece();
    }
  }

 private:
  int64_t work_, moments_, credit_ = 0;
};

}  // namespace heed::detail
