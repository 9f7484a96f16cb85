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

// a and b as `count` pairs of matrices, and the shape of the result.
struct MatmulOperands {
  Array a, b;  // stretched to the batch where necessary; a single matrix serves the whole batch
  Trans ta, tb;
  bool folded;  // the batch of a is part of its rows
  int64_t count;
  Shape out;

  ConstMatrices op_a() const;  // (m, k)
  ConstMatrices op_b() const;  // (k, n)
  template <class T>
  BasicMatrices<T> results(T* y) const {  // (m, n)
    const int64_t m = op_a().first.rows(), n = op_b().first.columns();
    return {BasicMatrix<T>(y, m, n), m * n};
  }
};
MatmulOperands matmul_operands(const Array& a, const Array& b, Trans ta, Trans tb);

// Adds d(a) and d(b) to grads 0 and 1.
void matmul_backward(const MatmulOperands& operands, const Array& dy, Grads& grads);

}  // namespace detail

[[nodiscard]] inline Tensor matmul(const Tensor& a, const Tensor& b, Trans ta = Trans::no,
                                   Trans tb = Trans::no) {
  detail::MatmulOperands operands = detail::matmul_operands(a.value(), b.value(), ta, tb);
  Array y = Array::uninitialised(operands.out);
  multiply_each(operands.count, operands.op_a(), operands.op_b(),
                into(operands.results(y.mutable_data())));
  return record("matmul", std::move(y), {a, b},
                [operands = std::move(operands)](const Array& dy, Grads& grads) {
                  detail::matmul_backward(operands, dy, grads);
                });
}

}  // namespace heed
