// The only door to OpenBLAS. It always runs on one thread here: gemm.h cuts a product into tiles
// and shares them between threads, since OpenBLAS's own threads would give other bits for another
// number of them.
#pragma once

#include "autograd/kernels/product.h"

namespace heed::detail {

// Takes every product, also with m, n or k of 0 and any alpha.
extern const ProductKernel openblas_products;

}  // namespace heed::detail
