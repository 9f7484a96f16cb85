// Choosing between two values element by element.
#pragma once

#include "autograd/array/array.h"

namespace heed {

// y_i = a_i where mask_i is not 0, else b_i; all three broadcast to `shape`, which y has. Where a
// number is not chosen it is not touched either: an infinity or NaN in it does no harm.
Array select(const Mask& mask, const Array& a, const Array& b, const Shape& shape);

// 1 where x is not 0: what Tensor.bool() is in PyTorch.
Mask nonzero(const Array& x);

// 1 where mask is 0 and 0 elsewhere.
Mask logical_not(const Mask& mask);

}  // namespace heed
