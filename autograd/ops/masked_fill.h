// Puts a number in place of chosen elements, as torch.Tensor.masked_fill.
//   x (...), mask broadcasts to x's shape -> y (...)
//   y_i  = value where mask_i is 1, else x_i
//   dx_i = 0 where mask_i is 1, else dy_i                  saves mask
// The mask says what is filled. An attention mask says the opposite (1: may attend): fill with
// logical_not(mask). The gradient is chosen, never multiplied: an infinite dy under the mask is
// gone.
#pragma once

#include "autograd/array/select.h"
#include "autograd/op.h"

namespace heed {

[[nodiscard]] inline Tensor masked_fill(const Tensor& x, const Mask& mask, real value) {
  require(broadcast("masked_fill", x.shape(), mask.shape()) == x.shape(),
          "masked_fill: expected a mask that broadcasts to x ", x.shape(), ", got ", mask.shape());
  Array y = select(mask, Array::full({}, value), x.value(), x.shape());
  return record("masked_fill", std::move(y), {x}, [mask](const Array& dy, Grads& grads) {
    grads.add(0, select(mask, Array::zeros({}), dy, dy.shape()));
  });
}

}  // namespace heed
