// Matrix products of one thread, after Goto and van de Geijn, "Anatomy of High-Performance Matrix
// Multiplication" (2008): blocks of both factors are laid out in the order in which a register tile
// reads them, small enough for the caches.
//
// OpenBLAS's kernel for AVX-512 reads from memory for nearly every multiply-add, and the two
// hyperthreads of a core compete for the load units. The tile here, 6 rows by 4 vectors, needs 10
// loads for 24 multiply-adds, and prefetches what the next tiles read.
//
// A number of C is a sum over parts of the depth, whose length follows from the depth alone; each
// part is one chain of multiply_add in the order of k. In a product with a vector whose matrix lies
// along k, it is a sum by columns in the order of row_math.h instead.
#pragma once

#include "autograd/kernels/product.h"

namespace heed::detail {

// Any m, n >= 1; alpha is 1.
void packed_gemm(const Product& p);

}  // namespace heed::detail
