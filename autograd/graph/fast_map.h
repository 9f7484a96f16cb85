// Elementwise functions that use exp, log, tanh or erf: the vector routines of vector_math.h, in
// parallel. Inside f call fast_exp and its kind, and write no branches.
#pragma once

#include <algorithm>

#include "autograd/array/vector_math.h"
#include "autograd/graph/graph.h"

namespace heed {

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
    if (to.add) {
      vector_zip(g, s, begin, end, f, [=](int64_t i, real v) { to.data[i] += v; });
    } else {
      vector_zip(g, s, begin, end, f, [=](int64_t i, real v) { to.data[i] = v; });
    }
  });
}

}  // namespace heed
