#include "autograd/kernels/openblas.h"

#include <cblas.h>

#include <algorithm>

#include "autograd/kernels/blas_info.h"

namespace heed {

namespace {

using Product = detail::Product;

// OpenBLAS's OpenMP build also sets OpenMP's own number of threads to 1. Regions ask for theirs, so
// it is not set back.
void keep_openblas_serial() {
  thread_local const bool done = [] {
    make_blas_serial_here();
    return true;
  }();
  static_cast<void>(done);
}

CBLAS_TRANSPOSE flag(Trans t) { return t == Trans::yes ? CblasTrans : CblasNoTrans; }

int narrow(int64_t value) { return static_cast<int>(value); }

void call_gemm(const Product& p) {
  keep_openblas_serial();
  if constexpr (is_float64) {
    cblas_dgemm(CblasRowMajor, flag(p.ta), flag(p.tb), narrow(p.m), narrow(p.n), narrow(p.k),
                p.alpha, reinterpret_cast<const double*>(p.a), narrow(p.lda),
                reinterpret_cast<const double*>(p.b), narrow(p.ldb), p.beta,
                reinterpret_cast<double*>(p.c), narrow(p.ldc));
  } else {
    cblas_sgemm(CblasRowMajor, flag(p.ta), flag(p.tb), narrow(p.m), narrow(p.n), narrow(p.k),
                static_cast<float>(p.alpha), reinterpret_cast<const float*>(p.a), narrow(p.lda),
                reinterpret_cast<const float*>(p.b), narrow(p.ldb), static_cast<float>(p.beta),
                reinterpret_cast<float*>(p.c), narrow(p.ldc));
  }
}

// y (outputs) = alpha op(M) x + beta y with M (rows, cols) as it is stored.
void call_gemv(Trans t, int64_t rows, int64_t cols, real alpha, const real* matrix, int64_t ld,
               const real* x, int64_t step_x, real beta, real* y, int64_t step_y) {
  keep_openblas_serial();
  if constexpr (is_float64) {
    cblas_dgemv(CblasRowMajor, flag(t), narrow(rows), narrow(cols), alpha,
                reinterpret_cast<const double*>(matrix), narrow(ld),
                reinterpret_cast<const double*>(x), narrow(step_x), beta,
                reinterpret_cast<double*>(y), narrow(step_y));
  } else {
    cblas_sgemv(CblasRowMajor, flag(t), narrow(rows), narrow(cols), static_cast<float>(alpha),
                reinterpret_cast<const float*>(matrix), narrow(ld),
                reinterpret_cast<const float*>(x), narrow(step_x), static_cast<float>(beta),
                reinterpret_cast<float*>(y), narrow(step_y));
  }
}

// C = beta C; with beta 0 whatever was there, NaN included, is gone.
void scale(const Product& p) {
  for (int64_t i = 0; i < p.m; ++i) {
    real* row = p.c + i * p.ldc;
    if (p.beta == 0) {
      std::fill_n(row, p.n, real{0});
    } else {
      std::for_each_n(row, p.n, [&](real& value) { value *= p.beta; });
    }
  }
}

// m or n is 1: a product of a matrix and a vector, which OpenBLAS's gemm would pack for nothing.
void run_vector(const Product& p) {
  real beta = p.beta;
  if (beta == 0) {
    scale(p);
    beta = 1;
  }
  if (p.m == 1) {  // c (n) = op(B)^T a
    const int64_t step_a = p.ta == Trans::no ? 1 : p.lda;
    if (p.tb == Trans::no) {
      call_gemv(Trans::yes, p.k, p.n, p.alpha, p.b, p.ldb, p.a, step_a, beta, p.c, 1);
    } else {
      call_gemv(Trans::no, p.n, p.k, p.alpha, p.b, p.ldb, p.a, step_a, beta, p.c, 1);
    }
    return;
  }
  const int64_t step_b = p.tb == Trans::no ? p.ldb : 1;  // c (m) = op(A) b
  if (p.ta == Trans::no) {
    call_gemv(Trans::no, p.m, p.k, p.alpha, p.a, p.lda, p.b, step_b, beta, p.c, p.ldc);
  } else {
    call_gemv(Trans::yes, p.k, p.m, p.alpha, p.a, p.lda, p.b, step_b, beta, p.c, p.ldc);
  }
}

}  // namespace

void detail::openblas_multiply(const Product& p) {
  if (p.m == 0 || p.n == 0) {
    return;
  }
  if (p.k == 0) {
    scale(p);
  } else if (p.m == 1 || p.n == 1) {
    run_vector(p);
  } else {
    call_gemm(p);
  }
}

}  // namespace heed
