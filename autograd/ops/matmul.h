// Matrix product over the last two axes; leading axes are batches and broadcast, as in PyTorch.
//   op(a) (..., m, k), op(b) (..., k, n) -> y (..., m, n),    op(x) = x or its transpose
//   y       = op(a) @ op(b)
//   d op(a) = dy @ op(b)^T
//   d op(b) = op(a)^T @ dy                                 saves a and b
// If b is a single matrix (k, n) and a is not transposed, the batch of a is folded into its rows:
// one product in all.
#pragma once

#include "autograd/op.h"

namespace heed {

namespace detail {

struct MatmulPlan {
  int64_t batch = 1, m = 0, n = 0, k = 0;
  int64_t stride_a = 0, stride_b = 0;  // between matrices; 0: one matrix for the whole batch
  Trans ta = Trans::no, tb = Trans::no;
  int64_t lda = 0, ldb = 0;
};

// Copies x (..., rows, columns) to (batch..., rows, columns), for batches that broadcast. Returns x
// itself if it has that shape.
Array stretch_batch(const Array& x, const Shape& batch);

// y = op(a) @ op(b) + beta y, with the extents and strides of the plan.
void run_matmul(const MatmulPlan& plan, const real* a, const real* b, real beta, real* y);

struct MatmulOperands {
  Array a, b;  // stretched to the batch where necessary
  MatmulPlan plan;
  Shape out;
};
MatmulOperands plan_matmul(const Array& a, const Array& b, Trans ta, Trans tb);

// Adds d(a) and d(b) to grads 0 and 1.
void matmul_backward(const MatmulOperands& operands, const Array& dy, Grads& grads);

}  // namespace detail

[[nodiscard]] inline Tensor matmul(const Tensor& a, const Tensor& b, Trans ta = Trans::no,
                                   Trans tb = Trans::no) {
  detail::MatmulOperands operands = detail::plan_matmul(a.value(), b.value(), ta, tb);
  Array y = Array::uninitialised(operands.out);
  detail::run_matmul(operands.plan, operands.a.data(), operands.b.data(), 0, y.mutable_data());
  return record("matmul", std::move(y), {a, b},
                [operands = std::move(operands)](const Array& dy, Grads& grads) {
                  detail::matmul_backward(operands, dy, grads);
                });
}

}  // namespace heed
