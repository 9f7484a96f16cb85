// Loops that several operations share: over the elements of an array, over its rows, and over one
// of its axes.
#pragma once

#include "autograd/graph/graph.h"
#include "autograd/kernels/vector_math.h"

namespace heed {

// The two loops of elementwise functions that use exp, log, tanh or erf. They run the vector
// routines of vector_math.h in parallel. f must call fast_exp and the like, and must not branch.

// y_i = f(x_i)
template <class F>
Array fast_map(const Array& x, F f) {
  Array y = Array::uninitialised(x.shape());
  const real* in = x.data();
  real* out = y.mutable_data();
  parallel_for(x.size(), elementwise_grain, [=](int64_t begin, int64_t end) {
    vector_map(in + begin, out + begin, end - begin, f);
  });
  return y;
}

// d(input k)_i = f(dy_i, saved_i), for an input that was not broadcast
template <class F>
void fast_emit(Grads& grads, size_t k, const Array& dy, const Array& saved, F f) {
  const Grads::Target to = grads.target(k);
  const real *g = dy.data(), *s = saved.data();
  parallel_for(dy.size(), elementwise_grain, [=](int64_t begin, int64_t end) {
    real* const d = to.data;
    if (to.add) {
#pragma omp simd
      for (int64_t i = begin; i < end; ++i) d[i] += f(g[i], s[i]);
    } else {
#pragma omp simd
      for (int64_t i = begin; i < end; ++i) d[i] = f(g[i], s[i]);
    }
  });
}

// y (..., n), of the shape of x: row(r, x of row r, y of row r) writes each row.
template <class Row>
Array map_rows(const Array& x, Row row) {
  const Rows rows = rows_of(x.shape());
  Array y = Array::uninitialised(x.shape());
  const real* in = x.data();
  real* out = y.mutable_data();
  parallel_rows(rows.count, rows.width,
                [=](int64_t r) { row(r, in + r * rows.width, out + r * rows.width); });
  return y;
}

// A shape seen from one of its axes: x (outer, n, inner), where `n` is the extent of the axis and
// all axes before it, and all after it, are folded into one.
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

// The backward of a reduction over the middle axis, (outer, n, inner) -> (outer, inner): element
// (o, i, j) of d(input k) is f(o * inner + j, flat index of the element), where o * inner + j is
// the index of the result that the element went into. The three cases are loops without a division
// per element.
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
