// The functions of instructions.h in plain C++, for every CPU. Each is exact: bit for bit what
// the instruction makes of the same operands, NaNs' payloads aside.
#pragma once

#include <cstddef>
#include <cstdint>

#include "autograd/kernels/gemm/amx/vector.h"

namespace heed::detail {

inline void before_tile_loads(const void*) {}

void configure_tiles();
void release_tiles();
void load_a_tiles(const void* upper, const void* lower);
void load_b_tiles(const void* left, const void* right);
void zero_c_tiles();
void load_c_tiles(const real* c, size_t row_bytes);
void store_c_tiles(real* c, size_t row_bytes);
void add_bfloat16_products();
void add_float16_products();

void store_as_float16(void* to, TileVector v);
TileVector pick(TileVector a, TileBits lanes_of_both, TileVector b);
TileVector load_first(int64_t n, const real* from);
TileVector larger_magnitude(TileVector a, TileVector b);
bool all_up_to(TileBits bits, uint32_t most);
TileVector load_quads(const real* from, int64_t step);

inline void keep_in_registers(TileBits&, TileBits&, TileBits&, TileBits&) {}

}  // namespace heed::detail
