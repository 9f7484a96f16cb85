// Matrix products of one thread, after Goto and van de Geijn, "Anatomy of High-Performance Matrix
// Multiplication" (2008): blocks of both factors are laid out in the order in which a register tile
// reads them, small enough for the caches.
//
// OpenBLAS's kernel for AVX-512 reads a number from memory for nearly every multiply-add, and the
// units that do so are what the two hyperthreads of a core contend for. The tile here, 6 rows by 4
// vectors, does 24 multiply-adds with 10 reads, and what the next tiles read is fetched meanwhile.
#pragma once

#include "autograd/kernels/product.h"

namespace heed::detail {

// Any m, n, k >= 1; alpha is 1.
void packed_gemm(const Product& p);

extern const ProductKernel vector_products;

}  // namespace heed::detail
