// RWKV's token shift: each channel of a token mixed with that of the token before it. Peng et al.
// 2023, "RWKV: Reinventing RNNs for the Transformer Era", section 3.
//   x (B, T, d), mu (1, 1, d), last (B, 1, d) or none -> y (B, T, d);   x_(-1) = last, or 0
//   y_t  = mu x_t + (1 - mu) x_(t-1)
//   dx_t = mu dy_t + (1 - mu) dy_(t+1),   dmu = sum over b and t of dy_t (x_t - x_(t-1))
// Saves x and mu. `last` has no gradient: it is what a cache holds of earlier tokens.
#pragma once

#include "autograd/op.h"

namespace heed {

// The definition, out of other operations.
[[nodiscard]] Tensor token_shift_composed(const Tensor& x, const Tensor& mu,
                                          const Array& last = {});

// ShapeError if the shapes do not match.
[[nodiscard]] Tensor token_shift(const Tensor& x, const Tensor& mu, const Array& last = {});

}  // namespace heed
