// Replaces masked elements by a number, as torch.Tensor.masked_fill.
//   x (...), mask that broadcasts to the shape of x -> y (...)
//   y_i  = value where mask_i is 1, else x_i
//   dx_i = 0 where mask_i is 1, else dy_i                  saves mask
// Here 1 means "fill", while 1 in an attention mask means "may attend": pass logical_not(mask) for
// those. An infinite or NaN dy_i where mask_i is 1 has no effect on dx.
#pragma once

#include "autograd/array/select.h"
#include "autograd/op.h"

namespace heed {

[[nodiscard]] inline Tensor masked_fill(const Tensor& x, const Mask& mask, real value) {
  require(broadcast("masked_fill", x.shape(), mask.shape()) == x.shape(),
          "masked_fill: expected a mask that broadcasts to x ", x.shape(), ", got ", mask.shape());
  Array y = select(mask.current(), Array::full({}, value), x.value(), x.shape());
  return record("masked_fill", std::move(y), {x},
                [mask = mask.current()](const Array& dy, Grads& grads) {
                  grads.add(0, select(mask, Array::zeros({}), dy, dy.shape()));
                });
}

}  // namespace heed
