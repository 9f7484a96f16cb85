// The backward pass of attention: scores are computed again, block by block.
#pragma once

#include "autograd/kernels/attention.h"
#include "autograd/kernels/gemm/amx/unit.h"

namespace heed::detail {

// The gradients of q, k and v, on AMX in a format or, for `none`, on vectors; the format is that of
// the forward pass.
void backward_pass(AmxFormat format, const AttentionProblem& p, const AttentionInputs& inputs,
                   const AttentionStatistics& statistics, const real* y, const real* dy,
                   const AttentionGradients& gradients);

}  // namespace heed::detail
