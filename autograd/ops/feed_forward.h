// Two affine maps of the last axis with GELU between them, applied to every token separately:
// Vaswani et al. 2017, section 3.3, with GELU in place of ReLU.
//   x (..., in), weight1 (hidden, in), bias1 (hidden) or none,
//   weight2 (out, hidden), bias2 (out) or none -> y (..., out)
//
//   z  = x @ weight1^T + bias1
//   h  = gelu(z)
//   y  = h @ weight2^T + bias2
//
//   dh = dy @ weight2
//   dz = dh * gelu'(z)
//   The other gradients are those of linear.
//
// Saves x, both weights, h and gelu'(z). The elementwise steps (bias, gelu, the product with
// gelu'(z)) run on each block of a matrix product while the block is in the cache.
#pragma once

#include "autograd/ops/gelu.h"
#include "autograd/ops/linear.h"

namespace heed {

[[nodiscard]] inline Tensor feed_forward_composed(const Tensor& x, const Affine& first, Gelu kind,
                                                  const Affine& second) {
  const Tensor hidden = gelu_composed(linear_composed(x, first.weight, first.bias), kind);
  return linear_composed(hidden, second.weight, second.bias);
}

// ShapeError if the shapes do not match.
[[nodiscard]] Tensor feed_forward(const Tensor& x, const Affine& first, Gelu kind,
                                  const Affine& second);

}  // namespace heed
