// Causal attention without a softmax. Katharopoulos, Vyas, Pappas and Fleuret 2020, "Transformers
// are RNNs", equations (8) to (12), with the sums over s <= t of section 3.2.
//   queries, keys, values (B, T, H d) -> y (B, T, H d);   for each head:
//   phi(x) = elu(x) + 1:  x + 1 for x > 0, else e^x
//   S_t = sum_(s<=t) phi(k_s) v_s^T  (d, d),   z_t = sum_(s<=t) phi(k_s)  (d)
//   y_t = S_t^T phi(q_t) / z_t . phi(q_t)
// So y_t is a mean of values with the weights A_ts = phi(q_t) . phi(k_s). Where they sum to 0, y_t
// and its gradients are 0: no key is left, or all of them underflow (below -80 in float32).
//
// Computed with A (T, T) for the tokens that come together, and with S and z for those before:
//   y_t = (sum_(s<=t) A_ts v_s + S^T phi(q_t)) / (sum_(s<=t) A_ts + z . phi(q_t))
#pragma once

#include "autograd/op.h"

namespace heed {

// A mask (B, T) hides keys, one of (B, 1, T, T) or (1, 1, T, T) pairs of query and key; none: all
// count. `sums` (B, H, d + 1, d), without a mask and a graph, holds S and, below it, z after
// earlier tokens; it is no array at first. Afterwards it includes these tokens. ShapeError if the
// shapes do not match.
[[nodiscard]] Tensor linearized_attention(const Tensor& queries, const Tensor& keys,
                                          const Tensor& values, int64_t num_heads,
                                          const Mask& may_attend = {}, Array* sums = nullptr);

}  // namespace heed
