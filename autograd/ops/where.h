// Element-wise choice between two tensors, as torch.where; mask, a and b broadcast.
//   y_i  = a_i  where mask_i is 1, else b_i
//   da_i = dy_i where mask_i is 1, else 0
//   db_i = 0    where mask_i is 1, else dy_i               saves mask
// An element that is not chosen affects neither y nor a gradient, even if it is infinite or NaN.
#pragma once

#include "autograd/array/select.h"
#include "autograd/op.h"

namespace heed {

[[nodiscard]] inline Tensor where(const Mask& mask, const Tensor& a, const Tensor& b) {
  const Shape shape = broadcast("where", mask.shape(), broadcast("where", a.shape(), b.shape()));
  Array y = select(mask.current(), a.value(), b.value(), shape);
  return record("where", std::move(y), {a, b},
                [mask = mask.current()](const Array& dy, Grads& grads) {
                  const Array zero = Array::zeros({});
                  if (grads.needs(0)) grads.add(0, select(mask, dy, zero, dy.shape()));
                  if (grads.needs(1)) grads.add(1, select(mask, zero, dy, dy.shape()));
                });
}

}  // namespace heed
