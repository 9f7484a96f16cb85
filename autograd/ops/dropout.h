// Sets elements to 0 with probability p and scales the others up, as torch.nn.functional.dropout.
//   y_i = m_i x_i,  m_i = 1 / (1 - p) if kept, else 0       x (...) -> y (...)
//   dx_i = m_i dy_i                                         saves how to make the mask again
// Which elements stay follows from streams().dropout(), see dropout_stream.h. Not training, or p =
// 0: x itself, and nothing is drawn. p = 1: zeros, nothing is drawn. ConfigError unless 0 <= p
// <= 1.
#pragma once

#include "autograd/dropout_stream.h"
#include "autograd/op.h"

namespace heed {

namespace detail {
inline Array apply_dropout(const DropoutMask& mask, const Array& x) {
  Array y = Array::uninitialised(x.shape());
  const real* in = x.data();
  real* out = y.mutable_data();
  parallel_for(x.size(), elementwise_grain, [&](int64_t begin, int64_t end) {
    mask.multiply(begin, end - begin, in + begin, out + begin);
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

}  // namespace heed
