// Recurrent networks over the tokens of a sequence: the steps of torch.nn.RNN (tanh), torch.nn.GRU
// and torch.nn.LSTM, after the projection of the inputs, which is one linear map for all tokens.
//   projected p (B, T, G d), weight W (G d, d), bias b (G d) or none, initial s_0 (B, S) or none
//     -> states s (B, T, S)
//   rnn   G = 1, S = d      s_t = h_t
//   gru   G = 3, S = d      s_t = h_t               the gates r, z, n lie side by side
//   lstm  G = 4, S = 2 d    s_t = h_t, c_t          the gates i, f, g, o, and the two states
//   u_t = W h_(t-1) + b
//   rnn   h_t = tanh(p_t + u_t)                                            Elman 1990
//   gru   r_t = sigmoid(p_t^r + u_t^r)      the reset gate                 Cho et al. 2014
//         z_t = sigmoid(p_t^z + u_t^z)      the update gate
//         n_t = tanh(p_t^n + r_t u_t^n)     the new state, weighed against the old one
//         h_t = (1 - z_t) n_t + z_t h_(t-1)
//   lstm  i_t = sigmoid(p_t^i + u_t^i)      the input gate                 Hochreiter and
//         f_t = sigmoid(p_t^f + u_t^f)      the forget gate                Schmidhuber 1997;
//         g_t = tanh(p_t^g + u_t^g)         what is new                    f: Gers et al. 2000
//         o_t = sigmoid(p_t^o + u_t^o)      the output gate
//         c_t = f_t c_(t-1) + i_t g_t       the cell, which nothing squashes between tokens
//         h_t = o_t tanh(c_t)
//   tokens (B, T): where it is 0 (padding) s_t = s_(t-1), so the last state is that of the last
//   token; none: all are tokens
//
// The backward runs from the last token to the first. ds_t is dy_t and what token t + 1 adds:
//   rnn   dp_t = du_t = dh_t (1 - h_t^2),       dh_(t-1) += W^T du_t
//   gru   dn = dh_t (1 - z),  dz = dh_t (h_(t-1) - n)
//         dp^n = dn (1 - n^2),  du^n = dp^n r,  dr = dp^n u^n
//         dp^z = du^z = dz z (1 - z),  dp^r = du^r = dr r (1 - r)
//         dh_(t-1) += W^T du_t + z dh_t
//   lstm  dc' = dc + dh o (1 - tanh(c)^2),  do = dh tanh(c)
//         dp^i = du^i = dc' g i (1 - i),  dp^f = du^f = dc' c_(t-1) f (1 - f)
//         dp^g = du^g = dc' i (1 - g^2),  dp^o = du^o = do o (1 - o)
//         dh_(t-1) += W^T du_t,  dc_(t-1) += f dc'
//   dW = sum_t du_t h_(t-1)^T,  db = sum_t du_t
// Saves W, s_0, s and, for gru, r, z, n and u^n, for lstm i, f, g and o. Without an initial state
// s_0 = 0.
#pragma once

#include "autograd/base/modes.h"
#include "autograd/op.h"
#include "autograd/ops/linear.h"

namespace heed {

enum class Cell { rnn, gru, lstm };

// G: the number of vectors of width d that a step computes from p and u.
inline int64_t gates_of(Cell cell) { return cell == Cell::rnn ? 1 : cell == Cell::gru ? 3 : 4; }

// S / d: the number of vectors of width d that a step hands on to the next.
inline int64_t states_of(Cell cell) { return cell == Cell::lstm ? 2 : 1; }

// The definition, out of other operations.
[[nodiscard]] Tensor recurrence_composed(Cell cell, const Tensor& projected, const Affine& hidden,
                                         const Tensor& initial = {}, const Mask& tokens = {});

// ShapeError if the shapes do not match, or if there is no token.
[[nodiscard]] Tensor recurrence(Cell cell, const Tensor& projected, const Affine& hidden,
                                const Tensor& initial = {}, const Mask& tokens = {});

}  // namespace heed
