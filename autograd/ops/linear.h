// Affine map of the last axis.      x (..., in), weight (out, in), bias (out) or none -> y (...,
// out)
//   y = x @ weight^T + bias
//   dx = dy @ weight      dweight = dy^T @ x      dbias = sum of dy over the rows
// Saves x and weight. The products add straight into the gradients (beta 1). Pass Tensor() for no
// bias.
#pragma once

#include "autograd/fused.h"
#include "autograd/op.h"
#include "autograd/ops/arithmetic.h"
#include "autograd/ops/matmul.h"
#include "autograd/ops/reshape.h"

namespace heed {

namespace detail {
void check_linear(const Shape& x, const Shape& weight, const Tensor& bias);
// `bias` may be no array.
Array linear_forward(const Array& x, const Array& weight, const Array& bias);
// Gradients 0, 1, 2 are those of x, weight and bias.
void linear_backward(const Array& x, const Array& weight, const Array& dy, Grads& grads);
}  // namespace detail

[[nodiscard]] inline Tensor linear_composed(const Tensor& x, const Tensor& weight,
                                            const Tensor& bias) {
  const Shape out = x.shape().with(-1, weight.dim(0));
  const Tensor rows = reshape(x, {rows_of(x.shape()).count, x.dim(-1)});
  const Tensor y = reshape(matmul(rows, weight, Trans::no, Trans::yes), out);
  return bias ? y + bias : y;
}

[[nodiscard]] inline Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  detail::check_linear(x.shape(), weight.shape(), bias);
  if (!fused()) {
    return linear_composed(x, weight, bias);
  }
  Array y = detail::linear_forward(x.value(), weight.value(), bias ? bias.value() : Array());
  return record("linear", std::move(y), {x, weight, bias},
                [x = x.value(), weight = weight.value()](const Array& dy, Grads& grads) {
                  detail::linear_backward(x, weight, dy, grads);
                });
}

}  // namespace heed
