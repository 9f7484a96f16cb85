// float32 matrix products of one thread on AMX.
//
// AMX multiplies tiles of 16-bit floats and accumulates in float32. A float32 is split into two or
// three 16-bit floats, and a product of two float32 numbers is the sum of three or six products of
// their parts: Henry, Tang and Heinecke, "Leveraging the bfloat16 Artificial Intelligence Datatype
// For Higher-Precision Computations" (2019); Ootomo and Yokota, "Recovering single precision
// accuracy from Tensor Cores while surpassing the FP32 theoretical peak performance" (2022). Six
// products of tiles take half the time of one with the vector units. Errors are those of a float32
// product.
//
// Read in this order:
//
//   instructions.h   what a tile register is, and the instructions used
//   parts.h          how a float32 is split, and which products of parts are kept
//   scales.h         powers of two that bring rows into float16's range, and what that loses
//   split.h          from a float32 matrix to a sequence of split blocks
//   tiles.h          the microkernel: 32 x 32 of C over the K loop; the epilogue
//   product.cpp      the loops around it, described there
#pragma once

#include "autograd/kernels/gemm/amx/unit.h"
#include "autograd/kernels/product.h"

namespace heed::detail {

// True if amx_gemm can compute p and was measured to be faster than packed_gemm and OpenBLAS.
bool amx_pays(const Product& p);

// For amx_runs(format), alpha 1. Blocks that float16 cannot hold, with numbers from 2^98 on or with
// more than a few that are below 2^-22 of the largest of their row or column (scales.h), are
// computed in bfloat16 instead, and blocks with an infinity or a NaN there by packed_gemm.
void amx_gemm(const Product& p, AmxFormat format);

}  // namespace heed::detail
