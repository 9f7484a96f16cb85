// The forward pass of attention with an online softmax, over blocks of queries and keys.
#pragma once

#include "autograd/kernels/attention.h"

namespace heed::detail {

// y (B, T, H dv) and the statistics' arrays.
void forward_pass(const AttentionProblem& p, const AttentionInputs& inputs, real* y,
                  AttentionStatistics& statistics);

// weights (B, H, T, S): P, before dropout.
void weights_pass(const AttentionProblem& p, const AttentionInputs& inputs,
                  const AttentionStatistics& statistics, real* weights);

}  // namespace heed::detail
