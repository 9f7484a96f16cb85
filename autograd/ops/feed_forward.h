// Two affine maps of the last axis with a Gaussian error linear unit between them, for every token
// by itself. Vaswani et al. 2017, section 3.3, with GELU in place of ReLU.
//   x (..., in), weights (hidden, in) and (out, hidden), biases (hidden) and (out) or none
//   -> y (..., out)
//   z = x @ weight1^T + bias1,  h = gelu(z),  y = h @ weight2^T + bias2
//   dh = dy @ weight2,  dz = dh * gelu'(z),  the rest as linear
// Saves x, both weights, h and gelu'(z). What is done to single numbers follows each block of a
// product while it is in the cache.
#pragma once

#include "autograd/ops/gelu.h"
#include "autograd/ops/linear.h"

namespace heed {

[[nodiscard]] inline Tensor feed_forward_composed(const Tensor& x, const Affine& first, Gelu kind,
                                                  const Affine& second) {
  const Tensor hidden = gelu_composed(linear_composed(x, first.weight, first.bias), kind);
  return linear_composed(hidden, second.weight, second.bias);
}

// ShapeError when the shapes do not fit together.
[[nodiscard]] Tensor feed_forward(const Tensor& x, const Affine& first, Gelu kind,
                                  const Affine& second);

}  // namespace heed
