// A fused operation with its composed twin. Shazeer 2020, "GLU Variants Improve Transformer".
//   y     = gate * s * value,  s = 1 / (1 + e^-gate)         all (...), of one shape
//   dgate = dy * value * s * (1 + gate (1 - s))
//   dvalue = dy * gate * s                                   saves gate and value
#pragma once

#include <heed/autograd/op.h>
#include <heed/autograd/ops/arithmetic.h>
#include <heed/autograd/ops/sigmoid.h>

#include <cmath>

namespace extension {

using namespace heed;

// The definition, out of other operations.
[[nodiscard]] inline Tensor swiglu_composed(const Tensor& gate, const Tensor& value) {
  return gate * sigmoid(gate) * value;
}

// The same in one pass, that saves two arrays instead of five.
[[nodiscard]] inline Tensor swiglu(const Tensor& gate, const Tensor& value) {
  require(gate.shape() == value.shape(), "swiglu: expected gate and value of one shape, got ",
          gate.shape(), " and ", value.shape());
  if (!fused()) {
    return swiglu_composed(gate, value);
  }
  Array y = zip("swiglu", gate.value(), value.value(),
                [](real u, real v) { return u / (1 + std::exp(-u)) * v; });
  return record("swiglu", std::move(y), {gate, value},
                [a = gate.value(), b = value.value()](const Array& dy, Grads& grads) {
                  const real *u = a.data(), *v = b.data(), *g = dy.data();
                  if (grads.needs(0)) {
                    grads.emit(0, [=](int64_t i) {
                      const real s = 1 / (1 + std::exp(-u[i]));
                      return g[i] * v[i] * s * (1 + u[i] * (1 - s));
                    });
                  }
                  if (grads.needs(1)) {
                    grads.emit(1, [=](int64_t i) { return g[i] * u[i] / (1 + std::exp(-u[i])); });
                  }
                });
}

}  // namespace extension
