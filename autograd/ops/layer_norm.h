// Layer norm over the last axis.          x (..., n), scale (n), shift (n) or none -> y (..., n)
//   m        = mean x_i
//   rstd     = 1 / sqrt(mean (x_i - m)^2 + eps)
//   h_i      = (x_i - m) rstd
//   y_i      = scale_i h_i + shift_i
//
//   g_i      = dy_i scale_i
//   dx_i     = rstd (g_i - mean g - h_i mean(g h))
//   dscale_i = sum over rows of dy_i h_i
//   dshift_i = sum over rows of dy_i
//
// Saves x, scale, and m and rstd of every row. Pass Tensor() for no shift. The variance is that of
// the row (correction 0). Source: Ba, Kiros, Hinton 2016, arXiv:1607.06450.
#pragma once

#include "autograd/base/modes.h"
#include "autograd/op.h"
#include "autograd/ops/arithmetic.h"
#include "autograd/ops/mean.h"
#include "autograd/ops/norm.h"
#include "autograd/ops/sqrt.h"
#include "autograd/ops/var.h"

namespace heed {

[[nodiscard]] inline Tensor layer_norm_composed(const Tensor& x, const Tensor& scale,
                                                const Tensor& shift, double eps = 1e-5) {
  const Tensor centred = x - mean(x, -1, true);
  const Tensor variance = var(x, -1, {.correction = 0, .keepdim = true});
  const Tensor y = centred / sqrt(variance + static_cast<real>(eps)) * scale;
  return shift ? y + shift : y;
}

[[nodiscard]] inline Tensor layer_norm(const Tensor& x, const Tensor& scale, const Tensor& shift,
                                       double eps = 1e-5) {
  detail::check_norm("layer_norm", x, scale, shift, eps);
  if (!fused()) {
    return layer_norm_composed(x, scale, shift, eps);
  }
  return detail::fused_norm("layer_norm", detail::Norm::layer, x, scale, shift, eps);
}

}  // namespace heed
