#include "autograd/ops/linear.h"

namespace heed::detail {

void check_linear(const Shape& x, const Shape& weight, const Tensor& bias) {
  require(x.rank() >= 1 && weight.rank() == 2 && x[-1] == weight[1],
          "linear: expected x (..., in) and weight (out, in), got ", x, " and ", weight);
  require(!bias || bias.shape() == Shape{weight[0]}, "linear: expected bias ", Shape{weight[0]},
          " for weight ", weight, " (out, in), got ", bias.shape());
}

void linear_weight_backward(const Array& x, const Array& weight, const Array& dy,
                            const Grads::Target& dw) {
  const Matrix to(dw.data, weight.dim(0), weight.dim(1));
  multiply(as_matrix(dy).transposed(), as_matrix(x), into(to, dw.add));
}

void linear_parameters_backward(const Array& x, const Array& weight, const Array& dy, Grads& grads,
                                size_t k) {
  if (grads.needs(k)) {
    linear_weight_backward(x, weight, dy, grads.target(k));
  }
  if (grads.needs(k + 1)) {
    grads.add(k + 1, dy);
  }
}

void linear_input_backward(const Array& x, const Array& weight, const Array& dy, Grads& grads) {
  if (grads.needs(0)) {
    const Grads::Target dx = grads.target(0);
    const Matrix to(dx.data, rows_of(x.shape()).count, x.dim(-1));
    multiply(as_matrix(dy), as_matrix(weight), into(to, dx.add));
  }
}

void linear_backward(const Array& x, const Array& weight, const Array& dy, Grads& grads) {
  linear_input_backward(x, weight, dy, grads);
  linear_parameters_backward(x, weight, dy, grads, 1);
}

}  // namespace heed::detail
