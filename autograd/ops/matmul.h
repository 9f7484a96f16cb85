// Matrix product over the last two axes; leading axes are batches and broadcast, as in PyTorch.
//   y (..., m, n) = op(a) (..., m, k) @ op(b) (..., k, n),    op(x) = x or its transpose
//   d op(a) = dy @ op(b)^T        d op(b) = op(a)^T @ dy      saves a and b
// A single b (k, n) under a batched a folds the batch into the rows: one product in all.
#pragma once

#include "autograd/op.h"

namespace heed {

namespace detail {

struct MatmulPlan {
  int64_t batch = 1, m = 0, n = 0, k = 0;
  int64_t stride_a = 0, stride_b = 0;  // 0: the same matrix for the whole batch
  Trans ta = Trans::no, tb = Trans::no;
  int64_t lda = 0, ldb = 0;
};

// Which array (batch, rows, columns) a broadcast operand has to be before it can be multiplied.
Array stretch_batch(const Array& x, const Shape& batch);

// y = op(a) @ op(b) as the plan says; beta as in gemm.
void run_matmul(const MatmulPlan& plan, const real* a, const real* b, real beta, real* y);

struct MatmulOperands {
  Array a, b;  // with their batches stretched where that is needed
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
