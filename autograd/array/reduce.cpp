#include "autograd/array/reduce.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "autograd/base/sum.h"
#include "autograd/threads/parallel.h"

namespace heed {

namespace {

// Columns per task: their sums (512 bytes) stay in the cache while the rows are read.
constexpr int64_t columns_at_once = 64;

// Columns [begin, end) of x (n, inner) -> y (inner). x is read row by row, as it lies in memory.
void sum_columns(const real* x, real* y, int64_t n, int64_t inner, int64_t begin, int64_t end) {
  double sums[columns_at_once] = {};
  const int64_t width = end - begin;
  for (int64_t r = 0; r < n; ++r) {
    const real* row = x + r * inner + begin;
#pragma omp simd
    for (int64_t j = 0; j < width; ++j) {
      sums[j] += static_cast<double>(row[j]);
    }
  }
  for (int64_t j = 0; j < width; ++j) {
    y[begin + j] = static_cast<real>(sums[j]);
  }
}

double sum_range(const real* x, int64_t begin, int64_t end) {
  return sum_of(begin, end, [x](int64_t i) { return static_cast<double>(x[i]); });
}

// x (outer, n, inner) -> y (outer, inner)
void sum_middle(const real* x, real* y, int64_t outer, int64_t n, int64_t inner) {
  if (inner == 1) {
    parallel_each(outer, row_grain(n),
                  [=](int64_t o) { y[o] = static_cast<real>(sum_range(x, o * n, (o + 1) * n)); });
    return;
  }
  const int64_t blocks = (inner + columns_at_once - 1) / columns_at_once;
  parallel_each(outer * blocks, row_grain(n * columns_at_once), [=](int64_t i) {
    const int64_t o = i / blocks, first = i % blocks * columns_at_once;
    sum_columns(x + o * n * inner, y + o * inner, n, inner, first,
                std::min(inner, first + columns_at_once));
  });
}

}  // namespace

double sum_all(const Array& x) {
  const real* v = x.data();
  return parallel_sum(x.size(), sum_grain,
                      [v](int64_t begin, int64_t end) { return sum_range(v, begin, end); });
}

// v - v is 0 for a finite v, else NaN. The sum is 0 only if no term is NaN.
bool all_finite(const Array& x) {
  const real* v = x.data();
  return parallel_sum(x.size(), elementwise_grain, [v](int64_t begin, int64_t end) {
           return static_cast<double>(sum_of(begin, end, [v](int64_t i) { return v[i] - v[i]; }));
         }) == 0.0;
}

std::string difference(const Array& a, const Array& b, std::optional<double> tolerance) {
  if (a.shape() != b.shape()) {
    return text("shapes ", a.shape(), " and ", b.shape());
  }
  for (int64_t i = 0; i < a.size(); ++i) {
    const double x = a.data()[i], y = b.data()[i];
    const bool near =
        tolerance && (std::isfinite(y) ? std::abs(x - y) <= *tolerance * std::max(1.0, std::abs(y))
                                       : std::isnan(x) && std::isnan(y));
    if (!near && std::memcmp(a.data() + i, b.data() + i, sizeof(real)) != 0) {
      return text("element ", i, " of ", b.shape(), ": ", a.data()[i], " and ", b.data()[i]);
    }
  }
  return "";
}

Array sum_axis(const Array& x, int axis) {
  const int at = x.shape().index_of(axis);
  const Shape& shape = x.shape();
  Array y = Array::uninitialised(shape.with(at, 1));
  sum_middle(x.data(), y.mutable_data(), shape.size_between(0, at), shape[at],
             shape.size_between(at + 1, shape.rank()));
  return y;
}

Array sum_to(const Array& x, const Shape& shape) {
  const int extra = x.rank() - shape.rank();
  // All leading axes in one pass: the common case, the gradient of a bias.
  const int64_t leading = x.shape().size_between(0, extra);
  Array y = x;
  if (extra > 0) {
    y = Array::uninitialised(Shape(x.shape().dims().subspan(static_cast<size_t>(extra))));
    sum_middle(x.data(), y.mutable_data(), 1, leading, y.size());
  }
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis] == 1 && y.dim(axis) != 1) {
      y = sum_axis(y, axis);
    }
  }
  require(y.shape() == shape, "gradient: a value of shape ", shape,
          " cannot have been broadcast to ", x.shape());
  return y;
}

}  // namespace heed
