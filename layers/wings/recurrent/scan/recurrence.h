// Recurrent networks over the tokens of a sequence: the steps of torch.nn.RNN (tanh) and
// torch.nn.GRU, after the projection of the inputs, which is one linear map for all tokens.
//   projected p (B, T, G d), weight W (G d, d), bias b (G d) or none, initial h_0 (B, d) or none
//     -> states h (B, T, d);   G = 1 for rnn, 3 for gru, whose gates r, z, n lie side by side
//   u_t = W h_(t-1) + b
//   rnn   h_t = tanh(p_t + u_t)                                            Elman 1990
//   gru   r_t = sigmoid(p_t^r + u_t^r)      the reset gate                 Cho et al. 2014
//         z_t = sigmoid(p_t^z + u_t^z)      the update gate
//         n_t = tanh(p_t^n + r_t u_t^n)     the new state, weighed against the old one
//         h_t = (1 - z_t) n_t + z_t h_(t-1)
//   tokens (B, T): where it is 0 (padding) h_t = h_(t-1), so the last state is that of the last
//   token; none: all are tokens
//
// The backward runs from the last token to the first. dh_t is dy_t and what token t + 1 adds:
//   rnn   dp_t = du_t = dh_t (1 - h_t^2),       dh_(t-1) += W^T du_t
//   gru   dn = dh_t (1 - z),  dz = dh_t (h_(t-1) - n)
//         dp^n = dn (1 - n^2),  du^n = dp^n r,  dr = dp^n u^n
//         dp^z = du^z = dz z (1 - z),  dp^r = du^r = dr r (1 - r)
//         dh_(t-1) += W^T du_t + z dh_t
//   dW = sum_t du_t h_(t-1)^T,  db = sum_t du_t
// Saves W, h_0, h and, for gru, r, z, n and u^n. Without an initial state h_0 = 0.
#pragma once

#include "autograd/base/modes.h"
#include "autograd/op.h"
#include "autograd/ops/linear.h"

namespace heed {

enum class Cell { rnn, gru };

// The number of vectors of width d that a step computes from p and u.
inline int64_t gates_of(Cell cell) { return cell == Cell::gru ? 3 : 1; }

// The definition, out of other operations.
[[nodiscard]] Tensor recurrence_composed(Cell cell, const Tensor& projected, const Affine& hidden,
                                         const Tensor& initial = {}, const Mask& tokens = {});

// ShapeError if the shapes do not match, or if there is no token.
[[nodiscard]] Tensor recurrence(Cell cell, const Tensor& projected, const Affine& hidden,
                                const Tensor& initial = {}, const Mask& tokens = {});

}  // namespace heed
