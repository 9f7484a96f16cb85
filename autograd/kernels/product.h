// One matrix product, as numbers: what gemm.h hands to a kernel, and how it is cut.
#pragma once

#include <cstdint>

#include "autograd/base/real.h"

namespace heed {

enum class Trans { no, yes };

namespace detail {

inline constexpr int64_t round_up(int64_t n, int64_t multiple) {
  return (n + multiple - 1) / multiple * multiple;
}

// C (m, n) = alpha op(A) (m, k) op(B) (k, n) + beta C, op(X) = X or its transpose, all row-major;
// `lda` is the distance between the rows of A as it is stored. With beta 0 C is not read.
struct Product {
  Trans ta;
  Trans tb;
  int64_t m;
  int64_t n;
  int64_t k;
  real alpha;
  const real* a;
  int64_t lda;
  const real* b;
  int64_t ldb;
  real beta;
  real* c;
  int64_t ldc;
};

// The part of a product that makes rows [begin, end) of C, its columns [begin, end), or what the
// same part of the depth k adds to all of C.
inline Product rows_of(Product p, int64_t begin, int64_t end) {
  p.m = end - begin;
  p.a += p.ta == Trans::no ? begin * p.lda : begin;
  p.c += begin * p.ldc;
  return p;
}

inline Product columns_of(Product p, int64_t begin, int64_t end) {
  p.n = end - begin;
  p.b += p.tb == Trans::no ? begin : begin * p.ldb;
  p.c += begin;
  return p;
}

inline Product depth_of(Product p, int64_t begin, int64_t end) {
  p.k = end - begin;
  p.a += p.ta == Trans::no ? begin : begin * p.lda;
  p.b += p.tb == Trans::no ? begin * p.ldb : begin;
  return p;
}

// One way to compute products; choice.h lists them.
struct ProductKernel {
  // True for a product that this kernel was measured to be the fastest for or, when `forced`, that
  // it can compute. m and n are at least 2, k at least 1.
  bool (*takes)(const Product& p, bool forced);
  void (*multiply)(const Product& p);  // on the calling thread
};

}  // namespace detail

}  // namespace heed
