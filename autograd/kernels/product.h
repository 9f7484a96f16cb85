// One matrix product: what gemm.h hands to a kernel, and how it is cut.
#pragma once

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

// Where a kernel's products may be cut: a number of C has the same bits in the whole product and in
// a part of at least smallest_part multiply-adds, if the rows and columns of the part begin at
// multiples of these and are at least as many. 0: if it is not cut along that side.
struct Granule {
  int64_t rows = 0, columns = 0;
};
inline constexpr int64_t smallest_part = 1 << 20;

// One way to compute products; choice.h lists them.
struct ProductKernel {
  // True for a product that this kernel was measured to be the fastest for or, when `forced`, that
  // it can compute. m and n are at least 2, k at least 1.
  bool (*takes)(const Product& p, bool forced);
  void (*multiply)(const Product& p);  // on the calling thread
  Granule (*granule)();
};

}  // namespace heed::detail
