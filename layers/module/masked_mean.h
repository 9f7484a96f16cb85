// The mean over the tokens that a mask keeps.
//   x (B, T, d), mask (B, T) or none -> y (B, 1, d)
//   y_b = sum_t mask_bt x_bt / sum_t mask_bt;  0 where the mask keeps nothing
#pragma once

#include "autograd/ops/matmul.h"

namespace heed {

// Throws ShapeError, naming `layer`, if the mask has another shape.
inline Tensor masked_mean(const char* layer, const Tensor& x, const Mask& mask) {
  const int64_t batch = x.dim(0), tokens = x.dim(1);
  require(!mask || mask.shape() == Shape{batch, tokens}, layer, ": expected a mask (B, T) = (",
          batch, ", ", tokens, ") for the mean over the tokens, got ", mask.shape());
  const uint8_t* const may = mask ? mask.current().data() : nullptr;
  Array weights = Array::uninitialised({batch, 1, tokens});  // each row sums to 1
  for (int64_t b = 0; b < batch && !dry_run(); ++b) {
    const auto kept = [&](int64_t t) { return may == nullptr || may[b * tokens + t] != 0; };
    int64_t count = 0;
    for (int64_t t = 0; t < tokens; ++t) {
      count += kept(t) ? 1 : 0;
    }
    for (int64_t t = 0; t < tokens; ++t) {
      weights.mutable_data()[b * tokens + t] = kept(t) ? 1 / static_cast<real>(count) : 0;
    }
  }
  return matmul(Tensor(std::move(weights)), x);
}

}  // namespace heed
