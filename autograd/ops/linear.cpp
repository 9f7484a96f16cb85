#include "autograd/ops/linear.h"

namespace heed::detail {

void check_linear(const Shape& x, const Shape& weight, const Tensor& bias) {
  require(x.rank() >= 1 && weight.rank() == 2 && x[-1] == weight[1],
          "linear: expected x (..., in) and weight (out, in), got ", x, " and ", weight);
  require(!bias || bias.shape() == Shape{weight[0]}, "linear: expected bias ", Shape{weight[0]},
          " for weight ", weight, " (out, in), got ", bias.shape());
}

Factors weight_product(const Array& x, const Array& dy, const Grads::Target& dw) {
  const Matrix to(dw.data, dy.dim(-1), x.dim(-1));
  return {as_matrix(dy).transposed(), as_matrix(x), into(to, dw.add)};
}

namespace {

Factors input_product(const Array& weight, const Array& dy, const Grads::Target& dx) {
  const Matrix to(dx.data, rows_of(dy.shape()).count, weight.dim(1));
  return {as_matrix(dy), as_matrix(weight), into(to, dx.add)};
}

}  // namespace

void linear_backward(const Array& x, const Array& weight, const Array& dy, Grads& grads) {
  const Grads::Target dw = grads.target_if_needed(1), dx = grads.target_if_needed(0);
  if (dw.data != nullptr && dx.data != nullptr && dw.data != dx.data) {
    multiply_both(weight_product(x, dy, dw), input_product(weight, dy, dx));
  } else {  // x and the weight may be the same tensor
    if (dw.data != nullptr) multiply(weight_product(x, dy, dw));
    if (dx.data != nullptr) multiply(input_product(weight, dy, dx));
  }
  if (grads.needs(2)) {
    grads.add(2, dy);
  }
}

}  // namespace heed::detail
