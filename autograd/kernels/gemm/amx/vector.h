// Vectors as long as a row of an AMX tile. In builds for AVX-512 they are the vectors of simd.h;
// the emulation of AMX also runs in builds for shorter ones.
#pragma once

#include "autograd/kernels/simd/simd.h"

namespace heed::detail {

inline constexpr int64_t tile_side = 16;  // rows of a tile, and numbers in a row

inline constexpr int tile_row_bytes = 64;
typedef real TileVector __attribute__((vector_size(tile_row_bytes)));
typedef std::make_unsigned_t<Integer> TileBits __attribute__((vector_size(tile_row_bytes)));
typedef real StoredTileVector
    __attribute__((vector_size(tile_row_bytes), aligned(alignof(real)), may_alias));

inline TileVector load_row(const real* from) {
  return *reinterpret_cast<const StoredTileVector*>(from);
}
inline void store_row(real* to, TileVector v) { *reinterpret_cast<StoredTileVector*>(to) = v; }

}  // namespace heed::detail
