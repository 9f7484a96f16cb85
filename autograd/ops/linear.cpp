#include "autograd/ops/linear.h"

namespace heed::detail {

void check_linear(const Shape& x, const Shape& weight, const Tensor& bias) {
  require(x.rank() >= 1 && weight.rank() == 2 && x[-1] == weight[1],
          "linear: expected x (..., in) and weight (out, in), got ", x, " and ", weight);
  require(!bias || bias.shape() == Shape{weight[0]}, "linear: expected bias ", Shape{weight[0]},
          " for weight ", weight, " (out, in), got ", bias.shape());
}

Array linear_forward(const Array& x, const Array& weight, const Array& bias) {
  return affine(x, weight, bias, [](const real*, int64_t, int64_t) {});
}

void linear_weight_backward(const Array& x, const Array& weight, const Array& dy,
                            const Grads::Target& dw) {
  const LinearExtents e(x, weight);
  gemm(Trans::yes, Trans::no, e.out, e.in, e.rows, 1, dy.data(), e.step_out, x.data(), e.step_in,
       dw.beta(), dw.data, e.step_in);
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
  const LinearExtents e(x, weight);
  if (grads.needs(0)) {
    const Grads::Target dx = grads.target(0);
    gemm(Trans::no, Trans::no, e.rows, e.in, e.out, 1, dy.data(), e.step_out, weight.data(),
         e.step_in, dx.beta(), dx.data, e.step_in);
  }
}

void linear_backward(const Array& x, const Array& weight, const Array& dy, Grads& grads) {
  linear_input_backward(x, weight, dy, grads);
  linear_parameters_backward(x, weight, dy, grads, 1);
}

}  // namespace heed::detail
