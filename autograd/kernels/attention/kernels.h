// What this folder's objects define for choice.cpp. The folders simd/, gemm/ and attention/ are
// compiled once for each vector width (tools/cmake/kernels.cmake), with HEED_VECTOR_KERNEL as the
// name for the width: vector_256.
#pragma once

#include "autograd/kernels/choice.h"

namespace heed::detail {

HEED_IN_LIBRARY extern const KernelEntry HEED_VECTOR_KERNEL;

}  // namespace heed::detail
