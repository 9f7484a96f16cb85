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
// The tokens are taken in chunks: A within a chunk, as a small lower triangle, and the sums S and z
// for everything before it.
//   num_t = sum_(s<=t in chunk) A_ts v_s + S^T phi(q_t),   den_t = sum A_ts + z . phi(q_t)
// The backward goes through the chunks from the last to the first, with g_t = dy_t / den_t and
// c_t = -g_t . y_t, and with sums over later tokens, G = sum phi(q_t) g_t^T, h = sum c_t phi(q_t):
//   dA_ts     = g_t . v_s + c_t
//   dphi(q_t) = sum_(s<=t in chunk) dA_ts phi(k_s) + S g_t + c_t z
//   dphi(k_s) = sum_(t>=s in chunk) dA_ts phi(q_t) + G v_s + h,     phi' = min(phi, 1)
//   dv_s      = sum_(t>=s in chunk) A_ts g_t + G^T phi(k_s)
// The gradients of queries and keys are differences, in which digits cancel: with heads of width 1
// that of the queries is 0 but for rounding. In float32 single numbers are therefore further off
// than 1e-5 of the largest, as they are in PyTorch; one accumulator in double does not help.
// Saves queries, keys, values, y, 1 / den, and S and z before every chunk.
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

// Continues after earlier tokens. `sums` (B, H, d + 1, d) holds S and, below it, z after them; it
// is no array at first. Afterwards it includes these tokens. Records no graph.
[[nodiscard]] Array linearized_attention_step(const Array& queries, const Array& keys,
                                              const Array& values, int64_t num_heads, Array& sums);

}  // namespace heed
