// Lower and upper triangle of the last two axes, zeros elsewhere.    x (..., m, n) -> y (..., m, n)
//   tril   y_ij = x_ij where j - i <= k, else 0        dx = tril(dy, k)
//   triu   y_ij = x_ij where j - i >= k, else 0        dx = triu(dy, k)
// Saves nothing. k = 0 is the main diagonal, k > 0 a diagonal above it, k < 0 one below it.
#pragma once

#include "autograd/op.h"

namespace heed {

namespace detail {
// Keeps the elements with first <= j - i <= last of every matrix.
inline Array keep_band(const Array& x, int64_t first, int64_t last) {
  Array y = Array::uninitialised(x.shape());
  const int64_t m = x.dim(-2), n = x.dim(-1);
  const real* in = x.data();
  real* out = y.mutable_data();
  parallel_rows(rows_of(x.shape()).count, n, [=](int64_t r) {
    const int64_t i = r % m;
    const int64_t from = std::clamp<int64_t>(i + first, 0, n);
    const int64_t to = std::clamp<int64_t>(i + last + 1, from, n);
    std::fill_n(out + r * n, from, real{0});
    std::copy(in + r * n + from, in + r * n + to, out + r * n + from);
    std::fill(out + r * n + to, out + (r + 1) * n, real{0});
  });
  return y;
}

inline Tensor band(const char* op, const Tensor& x, int64_t first, int64_t last) {
  require(x.rank() >= 2, op, ": expected matrices (..., m, n), got ", x.shape());
  return record(
      op, keep_band(x.value(), first, last), {x},
      [first, last](const Array& dy, Grads& grads) { grads.add(0, keep_band(dy, first, last)); });
}
}  // namespace detail

[[nodiscard]] inline Tensor tril(const Tensor& x, int64_t k = 0) {
  return detail::band("tril", x, -x.size(), std::clamp(k, -x.size() - 1, x.size()));
}

[[nodiscard]] inline Tensor triu(const Tensor& x, int64_t k = 0) {
  return detail::band("triu", x, std::clamp(k, -x.size(), x.size() + 1), x.size());
}

}  // namespace heed
