// The gated delta rule: a memory of fixed size that forgets a little with every token, and in which
// a key's old value is replaced by its new one. Yang, Kautz and Hatamizadeh 2024, "Gated Delta
// Networks: Improving Mamba2 with Delta Rule", arXiv:2412.06464, equation (10); their S is the
// transpose of this one. With alpha 1 it is the delta rule (Schlag et al. 2021).
//   queries q, keys k (B, T, H d), values v (B, T, H e), alpha, beta (B, T, H) -> y (B, T, H e)
//   for each head, with S_0 = 0 (d, e):
//   S_t = alpha_t (I - beta_t k_t k_t^T) S_(t-1) + beta_t k_t v_t^T
//   y_t = S_t^T q_t
//
// Computed without the matrix I - beta k k^T, in 6 d e operations a token:
//   w_t = beta_t (v_t - alpha_t S_(t-1)^T k_t)       what is new about the value of this key
//   S_t = alpha_t S_(t-1) + k_t w_t^T
// The backward runs from the last token to the first, with G the gradient of S_t:
//   G        += q_t dy_t^T,      dq_t = S_t dy_t
//   dw        = G^T k_t,         u = -beta_t dw      the gradient of alpha_t S_(t-1)^T k_t
//   dv_t      = beta_t dw,       dbeta_t  = dw . (v_t - alpha_t S_(t-1)^T k_t)
//   dk_t      = G w_t + alpha_t S_(t-1) u
//   dalpha_t  = sum of G * S_(t-1) + k_t . S_(t-1) u
//   G         = alpha_t (G + k_t u^T)                the gradient of S_(t-1)
// It needs S before every token. The forward saves S before each chunk of tokens, and the backward
// computes those within a chunk again: memory is linear in T, and the graph has one node.
#pragma once

#include "autograd/op.h"

namespace heed {

// Keys of unit length, and alpha and beta in [0, 1], keep S bounded; nothing here requires them.
struct GatedDelta {
  Tensor queries, keys, values, alpha, beta;
};

// The definition, out of other operations, token by token.
[[nodiscard]] Tensor gated_delta_rule_composed(const GatedDelta& in);

// ShapeError if the shapes do not match.
[[nodiscard]] Tensor gated_delta_rule(const GatedDelta& in);

// Continues after earlier tokens. `state` holds S after them, (B, H, d, e), or no array at first;
// afterwards it includes these tokens. Records no graph.
[[nodiscard]] Array gated_delta_rule_step(const GatedDelta& in, Array& state);

}  // namespace heed
