// One state for a whole sequence: the mean over the tokens that a mask keeps, or one of them.
//   x (B, T, d), mask (B, T) or none -> y (B, 1, d)
//   y_b = sum_t mask_bt x_bt / sum_t mask_bt;  0 where the mask keeps nothing
#pragma once

#include <algorithm>
#include <string>

#include "autograd/ops/matmul.h"
#include "layers/module/masks.h"

namespace heed {

// Throws ShapeError, naming `layer`, if the mask has another shape.
inline Tensor masked_mean(const char* layer, const Tensor& x, const Mask& mask) {
  const int64_t batch = x.dim(0), tokens = x.dim(1);
  require(!mask || mask.shape() == Shape{batch, tokens}, layer, ": expected a mask (B, T) = (",
          batch, ", ", tokens, ") for the mean over the tokens, got ", mask.shape());
  const Mask all = mask ? mask.current() : Mask::full({batch, tokens}, 1);
  Array weights = Array::uninitialised({batch, 1, tokens});  // each row sums to 1
  for (int64_t b = 0; b < batch && !dry_run(); ++b) {
    const uint8_t* const may = all.data() + b * tokens;
    const real share = 1 / static_cast<real>(tokens - std::count(may, may + tokens, 0));
    std::transform(may, may + tokens, weights.mutable_data() + b * tokens,
                   [share](uint8_t m) { return m != 0 ? share : 0; });
  }
  return matmul(Tensor(std::move(weights)), finite_tokens(x, mask));
}

enum class Kept { first, last };

// The mask (B, T) of one token a sequence: the first or last that `mask` (B, T) keeps, if any.
inline Mask only_one(const Mask& mask, Kept kept) {
  Mask one = Mask::zeros(mask.shape());
  const int64_t tokens = mask.dim(1), step = kept == Kept::first ? 1 : -1;
  for (int64_t b = 0; b < mask.dim(0) && !dry_run(); ++b) {
    int64_t t = kept == Kept::first ? 0 : tokens - 1;
    while (t >= 0 && t < tokens && mask.data()[b * tokens + t] == 0) t += step;
    if (t >= 0 && t < tokens) one.mutable_data()[b * tokens + t] = 1;
  }
  return one;
}

// `pool` is mean, first or last. Throws as masked_mean does.
inline Tensor pooled(const char* layer, const std::string& pool, const Tensor& x,
                     const Mask& mask) {
  if (pool == "mean") return masked_mean(layer, x, mask);
  const Mask all = mask ? mask : Mask::full({x.dim(0), x.dim(1)}, 1);
  return masked_mean(layer, x, only_one(all, pool == "last" ? Kept::last : Kept::first));
}

}  // namespace heed
