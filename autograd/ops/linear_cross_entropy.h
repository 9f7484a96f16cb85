// The sum of cross entropies of a linear map, at most 384 rows at a time: the logits of a large
// vocabulary never exist as a whole. Hsu et al. 2024, "Liger Kernel".
//   x (..., in), weight (V, in), targets (...) -> y ()
//   for each piece of the rows of x, with its targets:
//     logits   = piece @ weight^T                            (n <= 384, V)
//     y       += cross_entropy(logits)
//     dlogits  = its gradient, times dy                      in the place of the logits
//     dweight += dlogits^T @ piece
//     dx       = dlogits @ weight                            in the rows of the piece
//
// Each piece is multiplied once, for which dy is needed. So the loss, too, is computed in the
// backward pass: y is 0 until then. Our own kernels sum dweight in parts of as many rows as a piece
// has, and so give it the bits that it has without pieces; dx, too, where cut.h does not cut V in
// halves, as it may below 1,536 rows.
#pragma once

#include "autograd/ops/cross_entropy.h"
#include "autograd/ops/linear.h"

namespace heed {

// ShapeError as by the two operations; GraphError if x and weight require no gradient.
[[nodiscard]] Tensor linear_cross_entropy(const Tensor& x, const Tensor& weight,
                                          const Ids& targets);

}  // namespace heed
