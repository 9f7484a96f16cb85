// The weighted mean of RWKV-4: attention without queries, whose weights fall with the distance.
// Peng et al. 2023, "RWKV: Reinventing RNNs for the Transformer Era", equation (16), and appendix D
// for the state.
//   keys k, values v (B, T, d), time_decay, time_first (d) -> y (B, T, d);   for each channel:
//   w = -e^time_decay < 0,   u = time_first
//   y_t = (sum_(s<t) e^((t-1-s) w + k_s) v_s + e^(u+k_t) v_t) / (the same sums without v)
//
// Per token, from a state of three numbers a channel. The sums over s <= t,
//   a_t = e^w a_(t-1) + e^(k_t) v_t,   b_t = e^w b_(t-1) + e^(k_t),
// are kept divided by e^(p_t), the largest of their weights: p_t = max(p_(t-1) + w, k_t). No
// exponent is above 0 then, so no key is too large.
//
// The backward runs from the last token to the first, with r_t = dy_t / den_t, where den_t is kept
// divided by e^(m_t), m_t = max(p_(t-1), u + k_t):
//   da_(t-1) = r_t + e^w da_t,   db_(t-1) = -r_t y_t + e^w db_t
//   dv_t = r_t e^(u+k_t) + da_t e^(k_t)
//   dk_t = r_t e^(u+k_t) (v_t - y_t) + (da_t v_t + db_t) e^(k_t)
//   du   = sum_t r_t e^(u+k_t) (v_t - y_t)
//   dw   = sum_t r_t (a'_(t-1) - y_t b'_(t-1)),  a'_t = e^w (a'_(t-1) + a_(t-1)), so b'
// a' = da/dw and b' are kept divided by e^(p_t), as a and b are, da and db by their own largest
// weight. Saves keys, values, y and the two vectors; a and b are computed again. The memory is
// linear in T, and the graph has one node.
#pragma once

#include "autograd/op.h"

namespace heed {

// The definition, out of other operations: a softmax over s of the exponents above, (B, d, T, T).
[[nodiscard]] Tensor wkv_composed(const Tensor& keys, const Tensor& values,
                                  const Tensor& time_decay, const Tensor& time_first);

// ShapeError if the shapes do not match.
[[nodiscard]] Tensor wkv(const Tensor& keys, const Tensor& values, const Tensor& time_decay,
                         const Tensor& time_first);

// Continues after earlier tokens. `state` holds a, b and p after them, (B, 3, d), or no array at
// first; afterwards it includes these tokens. Records no graph.
[[nodiscard]] Array wkv_step(const Array& keys, const Array& values, const Array& time_decay,
                             const Array& time_first, Array& state);

}  // namespace heed
