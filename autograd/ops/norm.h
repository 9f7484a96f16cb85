// The loops of layer_norm and rms_norm. The two differ in the mean only, which rms_norm does not
// subtract.
//   m    = mean_i x_i, or 0 for rms_norm
//   rstd = 1 / sqrt(mean_i (x_i - m)^2 + eps)
//   h_i  = (x_i - m) rstd
//   y_i  = scale_i h_i + shift_i
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

// Returns y, and fills `saved` for the backward. `shift` may be no array.
Array norm_forward(Norm kind, const Array& x, const Array& scale, const Array& shift, double eps,
                   NormSaved& saved);

// Adds dx, dscale and dshift to gradients 0, 1 and 2.
//   g_i      = dy_i scale_i
//   dx_i     = rstd (g_i - mean g - h_i mean(g h)), without mean g for rms_norm
//   dscale_i = sum over rows of dy_i h_i
//   dshift_i = sum over rows of dy_i
void norm_backward(const NormSaved& saved, const Array& dy, Grads& grads);

}  // namespace heed::detail
