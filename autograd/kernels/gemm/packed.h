// Matrix products of one thread, after Goto and van de Geijn, "Anatomy of High-Performance Matrix
// Multiplication" (2008): pieces of both factors are laid out in the order in which a register tile
// reads them, small enough for the caches.
//
// OpenBLAS's kernel for AVX-512 reads a number from memory for nearly every multiply-add, and the
// units that do so are what the two hyperthreads of a core contend for. The tile here, 6 rows by 4
// vectors, does 24 multiply-adds with 10 reads, and what the next tiles read is fetched meanwhile.
#pragma once

#include "autograd/kernels/gemm.h"

namespace heed::detail {

// C (m, n) = alpha op(A) op(B) + beta C, as gemm has it.
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

// Rows [begin, end) of C, its columns, or what a part of the depth contributes to it.
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

// Whether packed_gemm was measured to be the faster one: in builds for AVX-512 on Intel's CPUs it
// takes 0.5 to 1.0 of OpenBLAS's time for all but tiny products and those whose C is beyond the L2
// cache.
bool packing_pays_here();
bool packing_pays(const Product& p);

// beta is 0 (C is not read) or 1.
void packed_gemm(const Product& p);

}  // namespace heed::detail
