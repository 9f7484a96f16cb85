#include "autograd/kernels/openblas.h"

#include <cblas.h>

#include <utility>

#include "autograd/kernels/blas_info.h"

namespace heed {

namespace {

using detail::Product;
using detail::ProductKernel;

// OpenBLAS's OpenMP build also sets OpenMP's own number of threads to 1. Regions ask for theirs, so
// it is not set back.
void keep_openblas_serial() {
  thread_local const bool done = [] {
    make_blas_serial_here();
    return true;
  }();
  static_cast<void>(done);
}

// OpenBLAS's functions for `real`.
constexpr auto gemm = std::get<size_t{is_float64}>(std::pair(&cblas_sgemm, &cblas_dgemm));
constexpr auto gemv = std::get<size_t{is_float64}>(std::pair(&cblas_sgemv, &cblas_dgemv));

CBLAS_TRANSPOSE flag(ConstMatrix m) { return m.is_transposed() ? CblasTrans : CblasNoTrans; }

int narrow(int64_t value) { return static_cast<int>(value); }

// With m or n of 1 this is a product of a matrix and a vector, which OpenBLAS's gemm would pack for
// nothing: y = alpha M x + y.
void multiply_vector(ConstMatrix m, real alpha, const real* x, int64_t step_x, real* y,
                     int64_t step_y) {
  const int64_t rows = m.is_transposed() ? m.columns() : m.rows();
  const int64_t columns = m.is_transposed() ? m.rows() : m.columns();
  gemv(CblasRowMajor, flag(m), narrow(rows), narrow(columns), alpha, m.data(), narrow(m.step()), x,
       narrow(step_x), 1, y, narrow(step_y));
}

void multiply_vector(const Product& p) {
  if (!p.add) {
    detail::clear(p.c);
  }
  if (p.m() == 1) {  // c (n) = B^T a
    const int64_t step_a = p.a.is_transposed() ? p.a.step() : 1;
    multiply_vector(p.b.transposed(), p.alpha, p.a.data(), step_a, p.c.data(), 1);
  } else {  // c (m) = A b
    const int64_t step_b = p.b.is_transposed() ? 1 : p.b.step();
    multiply_vector(p.a, p.alpha, p.b.data(), step_b, p.c.data(), p.c.step());
  }
}

void multiply_by_blas(const Product& p) {
  if (p.m() == 0 || p.n() == 0) {
    return;
  }
  if (p.k() == 0) {
    if (!p.add) detail::clear(p.c);
    return;
  }
  keep_openblas_serial();
  if (p.m() == 1 || p.n() == 1) {
    multiply_vector(p);
    return;
  }
  const real beta = p.add ? 1 : 0;
  gemm(CblasRowMajor, flag(p.a), flag(p.b), narrow(p.m()), narrow(p.n()), narrow(p.k()), p.alpha,
       p.a.data(), narrow(p.a.step()), p.b.data(), narrow(p.b.step()), beta, p.c.data(),
       narrow(p.c.step()));
}

}  // namespace

const ProductKernel detail::openblas_products{multiply_by_blas, false};

}  // namespace heed
