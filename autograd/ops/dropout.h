// Sets elements to 0 with probability p and scales the others, as torch.nn.functional.dropout.
//   x (...) -> y (...)
//   m_i  = 1 / (1 - p) if element i is kept, else 0
//   y_i  = m_i x_i
//   dx_i = m_i dy_i                                        saves how to compute the mask again
// The mask is drawn from streams().dropout() (autograd/random/dropout_mask.h). If training is false
// or p = 0, y is x itself; if p = 1, y is 0: in these cases no numbers are drawn. ConfigError
// unless 0 <= p <= 1.
#pragma once

#include "autograd/base/modes.h"
#include "autograd/op.h"
#include "autograd/ops/arithmetic.h"
#include "autograd/random/dropout_mask.h"

namespace heed {

namespace detail {
// m_i x_i, plus the shortcut if there is one.
inline Array apply_dropout(const DropoutMask& mask, const Array& x, const Array& shortcut = {}) {
  Array y = Array::uninitialised(x.shape());
  const real *in = x.data(), *beside = shortcut ? shortcut.data() : nullptr;
  real* out = y.mutable_data();
  parallel_for(x.size(), elementwise_grain, [&](int64_t begin, int64_t end) {
    mask.multiply(begin, end - begin, in + begin, out + begin);
    if (beside == nullptr) return;
#pragma omp simd
    for (int64_t i = begin; i < end; ++i) {
      out[i] = beside[i] + out[i];
    }
  });
  return y;
}
}  // namespace detail

[[nodiscard]] inline Tensor dropout(const Tensor& x, double p, bool training) {
  const DropoutMask mask =
      make_dropout_mask(streams().dropout(), streams().dropout_stream(), p, x.size(), training);
  if (mask.is_identity()) {
    return x;
  }
  return record(
      "dropout", detail::apply_dropout(mask, x.value()), {x},
      [mask](const Array& dy, Grads& grads) { grads.add(0, detail::apply_dropout(mask, dy)); });
}

// Dropout and the addition of a residual connection, in one pass. shortcut (...), x (...) -> y
// (...)
//   y         = shortcut + dropout(x)
//   dshortcut = dy
//   dx_i      = m_i dy_i                                  saves how to compute the mask again
[[nodiscard]] inline Tensor dropout_add_composed(const Tensor& shortcut, const Tensor& x, double p,
                                                 bool training) {
  return shortcut + dropout(x, p, training);
}

[[nodiscard]] inline Tensor dropout_add(const Tensor& shortcut, const Tensor& x, double p,
                                        bool training) {
  require(shortcut.shape() == x.shape(),
          "dropout_add: expected a shortcut and x of one shape, got ", shortcut.shape(), " and ",
          x.shape());
  if (!fused() || !training || p == 0) {
    return dropout_add_composed(shortcut, x, p, training);
  }
  const DropoutMask mask =
      make_dropout_mask(streams().dropout(), streams().dropout_stream(), p, x.size(), training);
  return record("dropout_add", detail::apply_dropout(mask, x.value(), shortcut.value()),
                {shortcut, x}, [mask](const Array& dy, Grads& grads) {
                  if (grads.needs(1)) grads.add(1, detail::apply_dropout(mask, dy));
                  if (grads.needs(0)) grads.add(0, dy);
                });
}

}  // namespace heed
