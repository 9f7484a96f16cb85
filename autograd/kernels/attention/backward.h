// The backward pass of attention: scores are computed again, block by block.
#pragma once

#include "autograd/kernels/attention.h"

namespace heed::detail {

// The gradients of q, k and v.
void backward_pass(const AttentionProblem& p, const AttentionInputs& inputs,
                   const AttentionStatistics& statistics, const real* y, const real* dy,
                   const AttentionGradients& gradients);

}  // namespace heed::detail
