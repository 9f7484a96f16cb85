// The CPU instructions that the kernels on AMX are written in, each as a function. Two
// implementations have the same functions and the same results:
//
//   hardware.h    one instruction or two each; builds for CPUs with AMX
//   emulation.h   plain C++, thread-local arrays as registers; builds with HEED_AMX_EMULATION.
//                     For tests: it runs on every CPU and under the sanitizers, but slowly.
//
// A tile register holds 16 rows of 64 bytes. A thread has eight. Every kernel uses them alike, for
// a block of 32 x 32 numbers of C:
//
//                              B: 6 (left)   7 (right)
//     A:  4 (upper)            C: 0          1
//         5 (lower)               2          3
//
// Tiles of C hold 16 x 16 float32. Tiles of A and B hold pairs of 16-bit floats. With pairs as
// units A's tile is 16 rows by 16 along the depth, and B's is 16 along the depth by 16 columns:
//
//                   a tile of A                              a tile of B
//     row i    (i, k0) (i, k0')  (i, k1) (i, k1') ...   row p    (kp, 0) (kp', 0)  (kp, 1) ...
//
// The pair p of both is the same two places kp and kp' of the depth. The product adds
//
//     C[i][j] += sum over p of A[i][kp] B[kp][j]  +  sum over p of A[i][kp'] B[kp'][j]
//
// Each of the two sums is gathered in float32, p upwards, with one rounding for a multiplication
// and an addition; then the two are added, then that to C. Results below 2^-126 become 0. bfloat16
// factors below 2^-126 count as 0; float16 ones below 2^-14, the denormals, keep their value.
//
//   configure_tiles(), release_tiles()   before the first and after the last use, on each thread
//   before_tile_loads(memory)            what was stored at `memory` can be loaded after this
//   load_a_tiles(upper, lower)           from two times 16 x 16 pairs without gaps
//   load_b_tiles(left, right)            likewise
//   zero_c_tiles(), load_c_tiles(c, row_bytes), store_c_tiles(c, row_bytes)   32 x 32 float32
//   add_bfloat16_products(), add_float16_products()   C += A B, four tiles of it
//
// And on vectors of 16 float32 (AVX-512):
//
//   store_as_float16(to, v)      rounded to nearest, 32 bytes
//   pick(a, lanes, b)            lane i is lane lanes[i] of a, or from 16 on of b
//   load_first(n, from)          n of 1 to 16 numbers, 0 beyond
//   larger_magnitude(a, b)       max(|a|, |b|); where one is a quiet NaN, the other one's
//   all_up_to(bits, most)        no lane is larger
//   load_quads(from, step)       four numbers each from rows 0, 4, 8 and 12
//   keep_in_registers(v...)      the compiler does not compute v again where it is used
#pragma once

#ifdef HEED_AMX_EMULATION
#include "autograd/kernels/gemm/amx/emulation.h"
#else
#include "autograd/kernels/gemm/amx/hardware.h"
#endif
