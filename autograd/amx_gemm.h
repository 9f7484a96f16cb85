// float32 matrix products of one thread on AMX, the matrix unit of Intel's CPUs since Sapphire
// Rapids. Its tiles multiply bfloat16 numbers and add up in float32; a float32 number is the sum
// of three of them, x = x0 + x1 + x2 with 8 bits of the fraction each, and
//
//   x y = x0 y0 + (x0 y1 + x1 y0) + (x0 y2 + x1 y1 + x2 y0)
//
// leaves out less than 2^-22 of it: Henry, Tang and Heinecke, "Leveraging the bfloat16 Artificial
// Intelligence Datatype For Higher-Precision Computations" (2019). Six products of tiles still take
// half the time of one with the vector units, and errors are those of a float32 product.
#pragma once

#include "autograd/packed_gemm.h"

#if defined(__AMX_BF16__) && defined(__AVX512F__) && defined(__linux__) && !defined(HEED_FLOAT64)
#define HEED_AMX
#endif

namespace heed::detail {

// In float32 builds for a CPU with AMX (those that define HEED_AMX), when the operating system lets
// this process use it and HEED_AMX is not 0 in the environment.
bool amx_available();

// Whether amx_gemm was measured to be faster than packed_gemm and OpenBLAS.
bool amx_pays(const Product& p);

// alpha is 1, beta 0 (C is not read) or 1. AMX counts numbers below 2^-126 as 0, parts of others
// among them: factors below 2^-100 keep fewer digits. Blocks that hold an infinity or a NaN are
// packed_gemm's.
void amx_gemm(const Product& p);

}  // namespace heed::detail
