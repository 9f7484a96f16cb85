// What this folder's objects define for choice.cpp. The folders simd/, gemm/ and attention/ are
// compiled once for each vector width and once for AMX (tools/cmake/kernels.cmake), each time with
// HEED_HAS_AMX or, as HEED_VECTOR_KERNEL, the name for the width: vector_256.
#pragma once

#include "autograd/kernels/choice.h"

namespace heed::detail {

#ifdef HEED_HAS_AMX
HEED_IN_LIBRARY extern const KernelEntry amx_fp16, amx_bf16;
#else
HEED_IN_LIBRARY extern const KernelEntry HEED_VECTOR_KERNEL;
#endif

}  // namespace heed::detail
