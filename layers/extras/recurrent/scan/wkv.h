// The weighted mean of RWKV-4: attention without queries, whose weights fall with the distance.
// Peng et al. 2023, "RWKV: Reinventing RNNs for the Transformer Era", equation (16), and appendix D
// for the state.
//   keys k, values v (B, T, d), time_decay, time_first (d) -> y (B, T, d);   for each channel:
//   w = -e^time_decay < 0,   u = time_first
//   y_t = (sum_(s<t) e^((t-1-s) w + k_s) v_s + e^(u+k_t) v_t) / (the same sums without v)
//
// Computed token by token, from a state of three numbers a channel. The sums over s <= t,
//   a_t = e^w a_(t-1) + e^(k_t) v_t,   b_t = e^w b_(t-1) + e^(k_t),
// are kept divided by e^(p_t), the largest of their weights: p_t = max(p_(t-1) + w, k_t). No
// exponent is above 0 then, so no key is too large. y does not depend on p, so no gradient goes
// through it.
#pragma once

#include "autograd/op.h"

namespace heed {

// `state` (B, 3, d), without a graph, holds a, b and p after earlier tokens; it is no array at
// first. Afterwards it includes these tokens. ShapeError if the shapes do not match.
[[nodiscard]] Tensor wkv(const Tensor& keys, const Tensor& values, const Tensor& time_decay,
                         const Tensor& time_first, Array* state = nullptr);

}  // namespace heed
