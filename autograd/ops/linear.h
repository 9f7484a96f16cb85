// Affine map of the last axis, as torch.nn.functional.linear.
//   x (..., in), weight (out, in), bias (out) or none -> y (..., out)
//   y       = x @ weight^T + bias
//   dx      = dy @ weight
//   dweight = dy^T @ x
//   dbias   = sum of dy over the rows
// Saves x and weight. The matrix products of the backward accumulate into the gradients directly
// (beta 1). Pass Tensor() for no bias. ShapeError if the shapes do not match.
#pragma once

#include "autograd/base/modes.h"
#include "autograd/kernels/gemm.h"
#include "autograd/op.h"
#include "autograd/ops/arithmetic.h"
#include "autograd/ops/matmul.h"
#include "autograd/ops/reshape.h"

namespace heed {

// The parameters of an affine map.
struct Affine {
  Tensor weight;  // (out, in)
  Tensor bias;    // (out), or Tensor()
};

namespace detail {
void check_linear(const Shape& x, const Shape& weight, const Tensor& bias);

// row[i] += bias[i] for i < n. Does nothing if bias is null.
inline void add_bias(const real* bias, int64_t n, real* row) {
  if (bias == nullptr) {
    return;
  }
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    row[i] += bias[i];
  }
}

struct NothingElse {
  void operator()(const real*, int64_t, int64_t) const {}
};

// Returns z = x @ weight^T + bias. The product computes z in blocks. For each part of a row in a
// finished block, while it is in the cache, the bias is added and then(part, offset of the part in
// z, its length) is called. `bias` may be no array.
template <class Then = NothingElse>
Array affine(const Array& x, const Array& weight, const Array& bias, const Then& then = {}) {
  const int64_t width = weight.dim(0);
  Array z = Array::uninitialised(x.shape().with(-1, width));
  const Matrix to = as_writable_matrix(z);
  const real* b = bias ? bias.data() : nullptr;
  multiply(as_matrix(x), as_matrix(weight).transposed(), into(to), [&](const Block& block) {
    for (int64_t r = block.row; r < block.row + block.rows; ++r) {
      const int64_t at = r * width + block.column;
      add_bias(b == nullptr ? b : b + block.column, block.columns, to.data() + at);
      then(to.data() + at, at, block.columns);
    }
  });
  return z;
}

// dweight = dy^T x, into or added to dw.
Factors weight_product(const Array& x, const Array& dy, const Grads::Target& dw);
// Adds dx, dweight and dbias to gradients 0, 1 and 2.
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
  Array y = detail::affine(x.value(), weight.value(), bias.value());
  return record("linear", std::move(y), {x, weight, bias},
                [x = x.value(), weight = weight.value()](const Array& dy, Grads& grads) {
                  detail::linear_backward(x, weight, dy, grads);
                });
}

}  // namespace heed
