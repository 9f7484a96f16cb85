// The loops of layer_norm and rms_norm. The two differ in the mean only, which rms_norm does not
// subtract. layer_norm.h and rms_norm.h have the equations.
#pragma once

#include "autograd/graph/tensor.h"

namespace heed::detail {

enum class Norm { layer, rms };

// `shift` may be Tensor() in both.
void check_norm(const char* op, const Tensor& x, const Tensor& scale, const Tensor& shift,
                double eps);
Tensor fused_norm(const char* op, Norm kind, const Tensor& x, const Tensor& scale,
                  const Tensor& shift, double eps);

}  // namespace heed::detail
