// The kernels of layer_norm and rms_norm, which differ in whether the mean is taken off.
//   m = mean_i x_i (0 for rms_norm)      rstd = 1 / sqrt(mean_i (x_i - m)^2 + eps)
//   h_i = (x_i - m) rstd                 y_i = scale_i h_i + shift_i
#pragma once

#include "autograd/graph/graph.h"

namespace heed::detail {

enum class Norm { layer, rms };

struct NormSaved {
  Norm kind;
  Array x, scale;   // (..., n), (n)
  Array row_stats;  // (N, 2): m and rstd of every row
  real eps = 0;
};

void check_norm(const char* op, const Shape& x, const Shape& scale, const Array& shift, double eps);

// Returns y, and in `saved` what the backward needs. `shift` may be no array.
Array norm_forward(Norm kind, const Array& x, const Array& scale, const Array& shift, double eps,
                   NormSaved& saved);

// Gradients 0, 1, 2 are those of x, scale and shift.
//   dx_i = rstd (g_i - mean g - h_i mean(g h)),  g = dy scale;  rms_norm has no mean g
//   dscale = sum over rows of dy h               dshift = sum over rows of dy
void norm_backward(const NormSaved& saved, const Array& dy, Grads& grads);

}  // namespace heed::detail
