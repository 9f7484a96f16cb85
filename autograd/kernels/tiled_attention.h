// Attention on OpenBLAS and plain loops alone: the form that is read first, and what the minimal
// engine runs.
//
// Each head takes a tile of queries at a time. With n keys visible to the tile:
//
//   S (rows, n) = scale Q K^T           a matrix product
//   P_i = softmax(S_i)                  hidden scores are -infinity
//   Y   = (M * P) V                     M the dropout mask, element by element
//
// The backward pass computes S and P again, and then
//
//   dV += (M * P)^T dY                  dP = M * (dY V^T),  dS_ij = P_ij (dP_ij - sum_l P_il dP_il)
//   dQ  = scale dS K                    dK += scale dS^T Q
//
// A thread's memory is two tiles of at most tile_rows x S numbers, so it grows with S.
#pragma once

#include "autograd/kernels/choice.h"

namespace heed::detail {

extern const AttentionKernel tiled_attention;

}  // namespace heed::detail
