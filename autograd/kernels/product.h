// One matrix product: what gemm.h hands to a kernel, and how it is cut.
#pragma once

#include <algorithm>
#include <cstdint>

#include "autograd/kernels/matrix.h"

namespace heed::detail {

inline constexpr int64_t round_up(int64_t n, int64_t multiple) {
  return (n + multiple - 1) / multiple * multiple;
}

// C (m, n) = alpha A (m, k) B (k, n), added to what C holds if `add` is set; else C is not read.
// C is not transposed. Our own kernels are given an alpha of 1 only.
struct Product {
  ConstMatrix a, b;
  Matrix c;
  bool add = false;
  real alpha = 1;

  int64_t m() const { return c.rows(); }
  int64_t n() const { return c.columns(); }
  int64_t k() const { return a.columns(); }

  // The part that makes rows [begin, end) of C, its columns [begin, end), or what the same part of
  // the depth k adds to all of C.
  Product rows(int64_t begin, int64_t end) const {
    Product part = *this;
    part.a = a.rows(begin, end);
    part.c = c.rows(begin, end);
    return part;
  }
  Product columns(int64_t begin, int64_t end) const {
    Product part = *this;
    part.b = b.columns(begin, end);
    part.c = c.columns(begin, end);
    return part;
  }
  Product depth(int64_t begin, int64_t end) const {
    Product part = *this;
    part.a = a.columns(begin, end);
    part.b = b.rows(begin, end);
    return part;
  }
};

// What was in C, NaN included, is gone.
inline void clear(Matrix c) {
  for (int64_t i = 0; i < c.rows(); ++i) {
    std::fill_n(c.data() + i * c.step(), c.columns(), real{0});
  }
}

// One way to compute products; choice.h lists them.
struct ProductKernel {
  void (*multiply)(const Product& p);  // on the calling thread; m and n are at least 1
  bool any_tiles;  // a number of C has the same bits in every part of C, and in the whole product
};

}  // namespace heed::detail
