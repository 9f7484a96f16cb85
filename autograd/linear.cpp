#include "autograd/ops/linear.h"

#include <algorithm>

namespace heed::detail {

namespace {

// What the products need to know of x (rows, in) and weight (out, in). The distances between rows
// are at least 1, as gemm wants them also where there is nothing.
struct Extents {
  int64_t rows, in, out, step_in, step_out;

  Extents(const Array& x, const Array& weight)
      : rows(rows_of(x.shape()).count),
        in(weight.dim(1)),
        out(weight.dim(0)),
        step_in(std::max<int64_t>(in, 1)),
        step_out(std::max<int64_t>(out, 1)) {}
};

// y (rows, out) += bias (out)
void add_bias(Array& y, const Array& bias) {
  const Rows rows = rows_of(y.shape());
  const real* b = bias.data();
  real* out = y.mutable_data();
  parallel_for(rows.count, row_grain(rows.width), [=](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      real* row = out + r * rows.width;
#pragma omp simd
      for (int64_t i = 0; i < rows.width; ++i) {
        row[i] += b[i];
      }
    }
  });
}

}  // namespace

void check_linear(const Shape& x, const Shape& weight, const Tensor& bias) {
  require(x.rank() >= 1 && weight.rank() == 2 && x[-1] == weight[1],
          "linear: expected x (..., in) and weight (out, in), got ", x, " and ", weight);
  require(!bias || bias.shape() == Shape{weight[0]}, "linear: expected bias ", Shape{weight[0]},
          " for weight ", weight, " (out, in), got ", bias.shape());
}

Array linear_forward(const Array& x, const Array& weight, const Array& bias) {
  const Extents e(x, weight);
  Array y = Array::uninitialised(x.shape().with(-1, e.out));
  gemm(Trans::no, Trans::yes, e.rows, e.out, e.in, 1, x.data(), e.step_in, weight.data(), e.step_in,
       0, y.mutable_data(), e.step_out);
  if (bias) {
    add_bias(y, bias);
  }
  return y;
}

void linear_backward(const Array& x, const Array& weight, const Array& dy, Grads& grads) {
  const Extents e(x, weight);
  if (grads.needs(0)) {
    const Grads::Target dx = grads.target(0);
    gemm(Trans::no, Trans::no, e.rows, e.in, e.out, 1, dy.data(), e.step_out, weight.data(),
         e.step_in, dx.beta(), dx.data, e.step_in);
  }
  if (grads.needs(1)) {
    const Grads::Target dw = grads.target(1);
    gemm(Trans::yes, Trans::no, e.out, e.in, e.rows, 1, dy.data(), e.step_out, x.data(), e.step_in,
         dw.beta(), dw.data, e.step_in);
  }
  if (grads.needs(2)) {
    grads.add(2, dy);
  }
}

}  // namespace heed::detail
