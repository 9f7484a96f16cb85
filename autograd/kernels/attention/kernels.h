// The kernels of attention in this folder, as choice.cpp lists them.
#pragma once

#include "autograd/kernels/choice.h"

namespace heed::detail {

extern const AttentionKernel amx_fp16_attention, amx_bf16_attention, vector_attention;

}  // namespace heed::detail
