// The end of a model: logits, or their loss where they would be large.
#pragma once

#include "autograd/ops/linear_cross_entropy.h"
#include "layers/linear.h"

namespace heed {

// How many rows the logits (rows, V) of a large vocabulary may have, to take 64 MB in float32; any
// number of a small one.
inline int64_t most_logit_rows(int64_t vocabulary) {
  return vocabulary >= 4096 ? (int64_t{1} << 24) / vocabulary : int64_t{1} << 52;
}

// head(states), the logits (..., V) of states (..., d). In training with targets (...), where they
// are more rows than that: the sum of their cross entropies, (), whose value is there after the
// backward pass. Not for a part of a model, an observed one, or a head of more than a matrix.
inline Tensor logits_or_loss(const Module& model, Linear& head, const Tensor& states,
                             const Ids& targets) {
  const bool in_pieces = targets && targets.size() > most_logit_rows(head.config.d_out) &&
                         targets.shape() == states.shape().without(-1) && is_plain(head) &&
                         !head.bias && model.training() && model.parent() == nullptr && fused() &&
                         ForwardObserver::current() == nullptr && NoGrad::recording() &&
                         (states.requires_grad() || head.weight.tensor().requires_grad());
  return in_pieces ? linear_cross_entropy(states, head.weight, targets) : head(states);
}

}  // namespace heed
