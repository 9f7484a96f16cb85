// The gated delta rule: a memory of fixed size that forgets a little with every token, and in which
// a key's old value is replaced by its new one. Yang, Kautz and Hatamizadeh 2024, "Gated Delta
// Networks: Improving Mamba2 with Delta Rule", arXiv:2412.06464, equation (10); their S is the
// transpose of this one. With alpha 1 it is the delta rule (Schlag et al. 2021).
//   queries q, keys k (B, T, H d), values v (B, T, H e), ln alpha, beta (B, T, H) -> y (B, T, H e)
//   for each head, with S_0 = 0 (d, e):
//   S_t = alpha_t (I - beta_t k_t k_t^T) S_(t-1) + beta_t k_t v_t^T
//   y_t = S_t^T q_t
//
// Computed for all tokens at once, as in section 3.3 of the paper. What token t adds to S is
// k_t w_t^T, where w_t = beta_t (v_t - alpha_t S_(t-1)^T k_t) is what is new about the value of its
// key. With g_t = ln alpha_1 + ... + ln alpha_t and D_ts = e^(g_t - g_s), the decay from s to t:
//   S_t = e^g_t S_0 + sum_(s<=t) D_ts k_s w_s^T
//   w_t = beta_t (v_t - e^g_t S_0^T k_t - sum_(s<t) D_ts (k_t . k_s) w_s)
//   y_t = e^g_t S_0^T q_t + sum_(s<=t) D_ts (q_t . k_s) w_s
// The second line is a triangular system for w, solved by halves. Memory is quadratic in T.
#pragma once

#include "autograd/op.h"

namespace heed {

// Keys of unit length, alpha and beta in [0, 1], keep S bounded; nothing here requires them.
struct GatedDelta {
  Tensor queries, keys, values, log_alpha, beta;
};

// `memory` (B, H, d, e), without a graph, holds S after earlier tokens; it is no array at first.
// Afterwards it includes these tokens. ShapeError if the shapes do not match.
[[nodiscard]] Tensor gated_delta_rule(const GatedDelta& in, Array* memory = nullptr);

}  // namespace heed
