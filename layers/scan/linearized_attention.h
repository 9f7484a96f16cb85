// Causal attention without a softmax, in time and memory linear in T. Katharopoulos, Vyas, Pappas
// and Fleuret 2020, "Transformers are RNNs", equations (8) to (12), with the sums over s <= t of
// section 3.2.
//   queries, keys, values (B, T, H d) -> y (B, T, H d);   for each head:
//   phi(x) = elu(x) + 1:  x + 1 for x > 0, else e^x
//   S_t = sum_(s<=t) phi(k_s) v_s^T  (d, d),   z_t = sum_(s<=t) phi(k_s)  (d)
//   y_t = S_t^T phi(q_t) / z_t . phi(q_t)
//   tokens (B, T): keys of tokens where it is 0 (padding) are left out of the sums; none: all count
//
// So y_t is a mean of values with the weights A_ts = phi(q_t) . phi(k_s). Where they sum to 0, y_t
// and its gradients are 0: no key is left, or all of them underflow (below -80 in float32).
//
// With v'_s = [v_s, 1], sums S' = sum phi(k_s) v'_s^T (d, d + 1) hold both S and z. The tokens are
// taken in chunks: A within a chunk, as a small lower triangle, and S' for everything before it.
//   [num_t, den_t] = sum_(s<=t in chunk) A_ts v'_s + S'^T phi(q_t),   y_t = num_t / den_t
// Backward, with g'_t = [dy_t, -dy_t . y_t] / den_t and G'_s = sum_(t>=s) phi(q_t) g'_t^T:
//   dphi(q_t) = S'_t g'_t,  dphi(k_s) = G'_s v'_s,  dv'_s = G'_s^T phi(k_s),  phi' = min(phi, 1)
// in chunks, too. One pass from the first to the last computes S' again, and dq; one from the last
// to the first computes G', dk and dv. Saves queries, keys, values, y and 1 / den.
#pragma once

#include "autograd/op.h"

namespace heed {

// The definition, out of other operations: A (B, H, T, T) at once. Also takes which keys each query
// may attend to, (B, 1, T, T) or (1, 1, T, T).
[[nodiscard]] Tensor linearized_attention_composed(const Tensor& queries, const Tensor& keys,
                                                   const Tensor& values, int64_t num_heads,
                                                   const Mask& may_attend = {});

// ShapeError if the shapes do not match. A mask that differs from query to query is computed by the
// definition.
[[nodiscard]] Tensor linearized_attention(const Tensor& queries, const Tensor& keys,
                                          const Tensor& values, int64_t num_heads,
                                          const Mask& may_attend = {});

// Continues after earlier tokens. `sums` is S' after them, (B, H, d, d + 1), or no array at first;
// afterwards it includes these tokens. Records no graph.
[[nodiscard]] Array linearized_attention_step(const Array& queries, const Array& keys,
                                              const Array& values, int64_t num_heads, Array& sums);

}  // namespace heed
