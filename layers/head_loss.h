// The end of a model: logits, or their loss where they would be large.
#pragma once

#include "autograd/ops/linear_cross_entropy.h"
#include "layers/linear.h"

namespace heed {

// head(states), the logits (..., V) of states (..., d). In training with targets (...), where they
// have more than most_logit_rows: the sum of their cross entropies, (), whose value is there after
// the backward pass. Not for a part of a model, an observed one, or a head of more than a matrix.
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
