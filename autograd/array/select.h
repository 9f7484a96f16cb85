// Element-wise choice between two arrays, and functions that make masks.
#pragma once

#include "autograd/array/array.h"

namespace heed {

// y_i = a_i where mask_i is not 0, else b_i. All three are broadcast to `shape`, the shape of y. An
// element that is not chosen has no effect, even if it is infinite or NaN.
Array select(const Mask& mask, const Array& a, const Array& b, const Shape& shape);

// 1 where mask is 0, else 0.
Mask logical_not(const Mask& mask);

}  // namespace heed
