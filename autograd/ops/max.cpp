#include "autograd/ops/max.h"

#include <limits>

namespace heed {

namespace {

bool exceeds(real a, real b) { return a > b || (std::isnan(a) && !std::isnan(b)); }

}  // namespace

Ids argmax(const Array& x, int axis) {
  const AxisSplit split = split_at(x.shape(), axis);
  require(split.n > 0, "max: expected at least one element on axis ", axis, ", got ", x.shape());
  require(split.n <= std::numeric_limits<int32_t>::max(), "max: an axis of ", split.n,
          " is too long for 32-bit indices");
  Ids index = Ids::uninitialised(reduced_shape(x.shape(), axis, false));
  const real* v = x.data();
  int32_t* out = index.mutable_data();
  parallel_each(split.outer * split.inner, row_grain(split.n), [=](int64_t at) {
    const real* column = v + at / split.inner * split.n * split.inner + at % split.inner;
    int64_t best = 0;
    for (int64_t i = 1; i < split.n; ++i) {
      if (exceeds(column[i * split.inner], column[best * split.inner])) best = i;
    }
    out[at] = static_cast<int32_t>(best);
  });
  return index;
}

namespace detail {

Array max_of_all(const Array& x) {
  Array y = Array::uninitialised({});
  const real* v = x.data();
  real* out = y.mutable_data();
  // A single chunk, so it runs on this thread, and during a dry run not at all.
  parallel_for(1, 1, [=, n = x.size()](int64_t, int64_t) {
    real best = v[0];
    for (int64_t i = 1; i < n; ++i) {
      if (exceeds(v[i], best)) best = v[i];
    }
    *out = best;
  });
  return y;
}

Array pick_along(const Array& x, const Ids& index, const AxisSplit& split) {
  Array y = Array::uninitialised(index.shape());
  const real* v = x.data();
  const int32_t* chosen = index.data();
  real* out = y.mutable_data();
  parallel_each(index.size(), elementwise_grain, [=](int64_t at) {
    out[at] = v[(at / split.inner * split.n + chosen[at]) * split.inner + at % split.inner];
  });
  return y;
}

void scatter_along(const Array& dy, const Ids& index, const AxisSplit& split, Grads& grads) {
  const real* g = dy.data();
  const int32_t* chosen = index.data();
  const int64_t n = split.n, inner = split.inner;
  emit_stretched(grads, 0, split, [=](int64_t at, int64_t i) {
    return i / inner % n == chosen[at] ? g[at] : real{0};
  });
}

void share_among_equals(const Array& x, const Array& y, const Array& dy, Grads& grads) {
  const real *v = x.data(), *top = y.data(), *g = dy.data();
  const auto equal = [=](int64_t i) {
    return v[i] == *top || (std::isnan(v[i]) && std::isnan(*top));
  };
  const double count = parallel_sum(x.size(), elementwise_grain, [=](int64_t begin, int64_t end) {
    double equals = 0;
    for (int64_t i = begin; i < end; ++i) equals += equal(i) ? 1 : 0;
    return equals;
  });
  grads.emit(0, [=](int64_t i) { return equal(i) ? *g / static_cast<real>(count) : real{0}; });
}

}  // namespace detail

}  // namespace heed
