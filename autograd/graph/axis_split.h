// A shape seen from one axis: x (outer, n, inner), the axes before and after it folded together.
#pragma once

#include "autograd/graph/graph.h"

namespace heed {

struct AxisSplit {
  int64_t outer = 1;
  int64_t n = 1;
  int64_t inner = 1;
};

inline AxisSplit split_at(const Shape& shape, int axis) {
  const int at = shape.index_of(axis);
  return {shape.size_between(0, at), shape[at], shape.size_between(at + 1, shape.rank())};
}

// The shape after a reduction over `axis`.
inline Shape reduced_shape(const Shape& shape, int axis, bool keepdim) {
  return keepdim ? shape.with(axis, 1) : shape.without(axis);
}

// The backward of a reduction over the middle axis: element (o, i, j) of d(input k) is
// f(o * inner + j, flat index of the element).
template <class F>
void emit_stretched(Grads& grads, size_t k, const AxisSplit& x, F f) {
  if (x.outer == 1 && x.inner == 1) {
    grads.emit(k, [f](int64_t i) { return f(int64_t{0}, i); });
  } else if (x.inner == 1) {
    grads.emit_rows(k, {x.outer, x.n}, [f, n = x.n](int64_t r, auto put) {
      for (int64_t i = 0; i < n; ++i) put(i, f(r, r * n + i));
    });
  } else {
    grads.emit_rows(k, {x.outer * x.n, x.inner}, [f, x](int64_t r, auto put) {
      const int64_t at = r / x.n * x.inner;
      for (int64_t j = 0; j < x.inner; ++j) put(j, f(at + j, r * x.inner + j));
    });
  }
}

}  // namespace heed
