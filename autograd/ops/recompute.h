// Activation checkpointing, as torch.utils.checkpoint: what f saves is not kept for the backward
// pass; f runs again in it. Chen et al. 2016, "Training Deep Nets with Sublinear Memory Cost".
//   forward    outputs = f(), without a graph
//   backward   f() again, with a graph; then a pass back through that graph, to `inputs` and leaves
//
//   inputs ---> [recompute: f] ---> [recompute: output k]     Each output hands its gradient to the
//                                                             node of f, which runs after them all.
// The bits are those of a graph that is kept: the inner pass adds to the gradients of inputs and
// parameters themselves, in the same order, and f draws the random numbers of its first run again.
// So f must depend on nothing but `inputs`, leaves and the random streams.
#pragma once

#include <functional>

#include "autograd/op.h"

namespace heed {

// inputs: at least one, and all tensors with a graph that f reads; Tensor() is allowed. One of them
// or a leaf that f reads must require a gradient: the outputs do. Under NoGrad the result is f(),
// and a backward pass throws GraphError.
[[nodiscard]] std::vector<Tensor> recompute(const std::vector<Tensor>& inputs,
                                            std::function<std::vector<Tensor>()> f);

}  // namespace heed
