// float32 matrix products of one thread on AMX. Its tiles multiply numbers of 16 bits and add up in
// float32; a float32 number is the sum of two or three of them (amx_parts.h): Henry, Tang and
// Heinecke, "Leveraging the bfloat16 Artificial Intelligence Datatype For Higher-Precision
// Computations" (2019); Ootomo and Yokota, "Recovering single precision accuracy from Tensor Cores
// while surpassing the FP32 theoretical peak performance" (2022). Even six products of tiles take
// half the time of one with the vector units, and errors are those of a float32 product.
#pragma once

#include "autograd/kernels/gemm/amx/unit.h"
#include "autograd/kernels/product.h"

namespace heed::detail {

// True if amx_gemm can compute p and was measured to be faster than packed_gemm and OpenBLAS.
bool amx_pays(const Product& p);

// alpha is 1, beta 0 (C is not read) or 1; format is one that runs here. Blocks that hold an
// infinity, in bfloat16 a NaN, or in float16 a number from 2^98 on are packed_gemm's.
void amx_gemm(const Product& p, AmxFormat format);

}  // namespace heed::detail
