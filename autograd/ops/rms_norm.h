// Root mean square norm over the last axis.                x (..., n), scale (n) -> y (..., n)
//   rstd     = 1 / sqrt(mean x_i^2 + eps)
//   h_i      = x_i rstd
//   y_i      = scale_i h_i
//
//   g_i      = dy_i scale_i
//   dx_i     = rstd (g_i - h_i mean(g h))
//   dscale_i = sum over rows of dy_i h_i
//
// Saves x, scale, and rstd of every row. The default eps is 1e-5; that of torch.nn.RMSNorm is the
// machine epsilon. Source: Zhang, Sennrich 2019, arXiv:1910.07467.
#pragma once

#include "autograd/base/modes.h"
#include "autograd/op.h"
#include "autograd/ops/arithmetic.h"
#include "autograd/ops/mean.h"
#include "autograd/ops/norm.h"
#include "autograd/ops/sqrt.h"

namespace heed {

[[nodiscard]] inline Tensor rms_norm_composed(const Tensor& x, const Tensor& scale,
                                              double eps = 1e-5) {
  return x / sqrt(mean(x * x, -1, true) + static_cast<real>(eps)) * scale;
}

[[nodiscard]] inline Tensor rms_norm(const Tensor& x, const Tensor& scale, double eps = 1e-5) {
  detail::check_norm("rms_norm", x, scale, Tensor(), eps);
  if (!fused()) {
    return rms_norm_composed(x, scale, eps);
  }
  return detail::fused_norm("rms_norm", detail::Norm::rms, x, scale, Tensor(), eps);
}

}  // namespace heed
