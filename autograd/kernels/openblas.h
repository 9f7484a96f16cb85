// The only door to OpenBLAS. It always runs on one thread here: gemm.h cuts a product into tiles
// and shares them between threads, since OpenBLAS's own threads would give other bits for another
// number of them.
#pragma once

#include "autograd/kernels/product.h"

namespace heed::detail {

// C = alpha op(A) op(B) + beta C on the calling thread, for any m, n, k >= 0.
void openblas_multiply(const Product& p);

}  // namespace heed::detail
