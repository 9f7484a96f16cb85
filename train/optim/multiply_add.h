// Arithmetic with the same rounding as PyTorch's vector kernels.
#pragma once

#include <cmath>

#include "autograd/base/real.h"

namespace heed {

// a b + c, rounded once on CPUs with FMA.
inline real multiply_add(real a, real b, real c) {
#ifdef __FMA__
  return std::fma(a, b, c);
#else
  return a * b + c;
#endif
}

}  // namespace heed
