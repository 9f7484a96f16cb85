// The loops of layer_norm and rms_norm. The two differ in the mean only, which rms_norm does not
// subtract. layer_norm.h and rms_norm.h have the equations.
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
void norm_backward(const NormSaved& saved, const Array& dy, Grads& grads);

}  // namespace heed::detail
