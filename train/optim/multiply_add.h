// Arithmetic that is rounded where PyTorch's vector kernels round.
#pragma once

#include <cmath>

#include "autograd/base/real.h"

namespace heed {

// a b + c, rounded once where the CPU can.
inline real multiply_add(real a, real b, real c) {
#ifdef __FMA__
  return std::fma(a, b, c);
#else
  return a * b + c;
#endif
}

}  // namespace heed
