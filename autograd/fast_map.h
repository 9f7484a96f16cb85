// Elementwise functions that use exp, log, tanh or erf: the vector routines of vector_math.h, in
// parallel. Inside f call fast_exp and its kind, and write no branches.
#pragma once

#include <algorithm>

#include "autograd/graph.h"
#include "autograd/vector_math.h"

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

namespace detail {
// part_j = f(a_j, b_j) for j < n <= vector_block
template <class F>
void vector_zip_block(const real* a, const real* b, int64_t n, real* part, F f) {
  if (n == vector_block) {
#pragma omp simd
    for (int64_t j = 0; j < vector_block; ++j) {
      part[j] = f(a[j], b[j]);
    }
    return;
  }
  alignas(64) real tail_a[vector_block] = {}, tail_b[vector_block] = {};
  std::copy_n(a, n, tail_a);
  std::copy_n(b, n, tail_b);
#pragma omp simd
  for (int64_t j = 0; j < vector_block; ++j) {
    part[j] = f(tail_a[j], tail_b[j]);
  }
}
}  // namespace detail

// d(input k)_i = f(dy_i, saved_i), for an input that was not broadcast
template <class F>
void fast_emit(Grads& grads, size_t k, const Array& dy, const Array& saved, F f) {
  const Grads::Target to = grads.target(k);
  const real *g = dy.data(), *s = saved.data();
  parallel_for(dy.size(), elementwise_grain, [=](int64_t begin, int64_t end) {
    alignas(64) real part[vector_block];
    for (int64_t i = begin; i < end; i += vector_block) {
      const int64_t n = std::min(vector_block, end - i);
      detail::vector_zip_block(g + i, s + i, n, part, f);
      real* out = to.data + i;
      if (to.add) {
        for (int64_t j = 0; j < n; ++j) out[j] += part[j];
      } else {
        std::copy_n(part, n, out);
      }
    }
  });
}

}  // namespace heed
