// Matrix products: the door to OpenBLAS (openblas.h) and to our own kernels; choice.h says which of
// them computes a product. C is cut into tiles, or the depth k into halves, as the shape alone
// says, and the parts are shared between threads: the same shape gives the same bits for any number
// of threads. All matrices are row-major. Errors: ShapeError for a dimension that is negative,
// beyond 2^31 - 1, or longer than its leading dimension; ConfigError for a wrong HEED_KERNELS.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

#include "autograd/kernels/product.h"

namespace heed {

// C (m, n) = alpha op(A) (m, k) op(B) (k, n) + beta C, op(X) = X or its transpose; `lda` is the
// distance between the rows of A as it is stored. With beta 0 C is not read; with k 0 C = beta C.
void gemm(Trans ta, Trans tb, int64_t m, int64_t n, int64_t k, real alpha, const real* a,
          int64_t lda, const real* b, int64_t ldb, real beta, real* c, int64_t ldc);

// C = op(A) op(B), all of it by OpenBLAS and not counted: what gemm is measured against.
void openblas_gemm(Trans ta, Trans tb, int64_t m, int64_t n, int64_t k, const real* a, int64_t lda,
                   const real* b, int64_t ldb, real* c, int64_t ldc);

namespace detail {
using BlockDone = void (*)(void* context, int64_t row, int64_t rows, int64_t column,
                           int64_t columns);
void gemm_then(Trans ta, Trans tb, int64_t m, int64_t n, int64_t k, const real* a, int64_t lda,
               const real* b, int64_t ldb, real* c, int64_t ldc, BlockDone done, void* context);
}  // namespace detail

// C = op(A) op(B), and done(row, rows, column, columns) for each block of C as soon as it is
// complete, by the thread that made it, while it is in that thread's cache. Every number of C is in
// one block; `done` is under the rules of a body of parallel_for.
template <class Done>
void gemm_then(Trans ta, Trans tb, int64_t m, int64_t n, int64_t k, const real* a, int64_t lda,
               const real* b, int64_t ldb, real* c, int64_t ldc, Done&& done) {
  using Plain = std::remove_reference_t<Done>;
  detail::gemm_then(
      ta, tb, m, n, k, a, lda, b, ldb, c, ldc,
      [](void* context, int64_t row, int64_t rows, int64_t column, int64_t columns) {
        (*static_cast<Plain*>(context))(row, rows, column, columns);
      },
      const_cast<void*>(static_cast<const void*>(std::addressof(done))));
}

// C[i] = alpha op(A[i]) op(B[i]) + beta C[i] for i < batch; matrix i of A begins at a + i stride_a.
// A stride of 0 uses the same matrix every time (not for C).
void batched_gemm(int64_t batch, Trans ta, Trans tb, int64_t m, int64_t n, int64_t k, real alpha,
                  const real* a, int64_t lda, int64_t stride_a, const real* b, int64_t ldb,
                  int64_t stride_b, real beta, real* c, int64_t ldc, int64_t stride_c);

// Floating-point operations of matrix products since the program started: 2 m n k for each gemm,
// dry runs included.
int64_t flop_count();
void count_flops(int64_t flops);

}  // namespace heed
