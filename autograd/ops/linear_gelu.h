// Affine map of the last axis and the Gaussian error linear unit, the first half of a feed-forward.
//   x (..., in), weight (out, in), bias (out) or none -> y (..., out)
//   z = x @ weight^T + bias,  y = gelu(z)
//   dz = dy * gelu'(z), then as linear            saves x, weight and z; dz is written over z
// Bias and gelu follow each block of the product while it is in the cache.
#pragma once

#include "autograd/ops/gelu.h"
#include "autograd/ops/linear.h"

namespace heed {

namespace detail {
// Gives z and, in y, gelu(z). `bias` may be no array.
inline Array linear_gelu_forward(const Array& x, const Array& weight, const Array& bias, Gelu kind,
                                 Array& y) {
  y = Array::uninitialised(x.shape().with(-1, weight.dim(0)));
  real* out = y.mutable_data();
  return with_gelu(kind, [&](auto value, auto) {
    return affine(x, weight, bias,
                  [=](const real* z, int64_t at, int64_t n) { vector_map(z, out + at, n, value); });
  });
}

// z becomes dz = dy * gelu'(z).
inline void gelu_backward_in_place(const Array& dy, Gelu kind, Array& z) {
  const real* g = dy.data();
  real* out = z.mutable_data();
  with_gelu(kind, [&](auto, auto derivative) {
    parallel_for(z.size(), elementwise_grain, [=](int64_t begin, int64_t end) {
      vector_zip(
          g, out, begin, end, [=](real d, real v) { return d * derivative(v); },
          [=](int64_t i, real v) { out[i] = v; });
    });
  });
}
}  // namespace detail

[[nodiscard]] inline Tensor linear_gelu_composed(const Tensor& x, const Tensor& weight,
                                                 const Tensor& bias, Gelu kind) {
  return gelu_composed(linear_composed(x, weight, bias), kind);
}

[[nodiscard]] inline Tensor linear_gelu(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                        Gelu kind) {
  detail::check_linear(x.shape(), weight.shape(), bias);
  if (!fused()) {
    return linear_gelu_composed(x, weight, bias, kind);
  }
  Array y;
  Array z = detail::linear_gelu_forward(x.value(), weight.value(), bias ? bias.value() : Array(),
                                        kind, y);
  return record("linear_gelu", std::move(y), {x, weight, bias},
                [x = x.value(), weight = weight.value(), z = std::move(z), kind](
                    const Array& dy, Grads& grads) mutable {
                  detail::gelu_backward_in_place(dy, kind, z);
                  detail::linear_backward(x, weight, z, grads);
                });
}

}  // namespace heed
