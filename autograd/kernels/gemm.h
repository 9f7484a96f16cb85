// Matrix products: the door to OpenBLAS (openblas.h) and to our own kernels; choice.h says which of
// them computes a product.
//
//   multiply(a, b, into(c))                 C = A B
//   multiply(a, b, into(c, true))           C = A B + C
//   multiply(a.transposed(), b, into(c))    C = A^T B
//   multiply(a, b, into(c), epilogue)       C = A B, and epilogue(block) for each block of it
//   multiply_both({a, b, into(c)}, {d, e, into(f)})    C = A B and F = D E, in one shared loop
//   multiply_each(count, a, b, into(c))     C[i] = A[i] B[i] for i < count
//
// C is cut into tiles, and the depth k into halves, and threads share the parts (cut.h): the same
// shape gives the same bits for any number of threads. With a
// depth of 0, A B is 0. Errors: ShapeError for factors or a C that do not fit together, and for a
// dimension that is negative, beyond 2^31 - 1, or longer than the step between the rows in memory;
// ConfigError for a wrong HEED_KERNELS.
#pragma once

#include <cstdint>
#include <memory>

#include "autograd/kernels/matrix.h"

namespace heed {

// Where a product goes, and whether it is added to what is there. Otherwise C is not read.
template <class Where>
struct Into {
  Where c;
  bool add;
};
inline Into<Matrix> into(Matrix c, bool add = false) { return {c, add}; }
inline Into<Matrices> into(Matrices c, bool add = false) { return {c, add}; }

// Rows [row, row + rows) and columns [column, column + columns) of a product.
struct Block {
  int64_t row, rows;
  int64_t column, columns;
};

// What is multiplied, and where it goes.
struct Factors {
  ConstMatrix a, b;
  Into<Matrix> to;
};

namespace detail {

using Epilogue = void (*)(void* context, const Block& block);
struct ProductWithEpilogue {
  Factors factors;
  Epilogue epilogue = nullptr;
  void* context = nullptr;
};
void multiply(const ProductWithEpilogue& first);
void multiply(const ProductWithEpilogue& first, const ProductWithEpilogue& second);

template <class Epilogue>
ProductWithEpilogue with_epilogue(const Factors& factors, Epilogue& epilogue) {
  return {factors,
          [](void* context, const Block& block) { (*static_cast<Epilogue*>(context))(block); },
          const_cast<void*>(static_cast<const void*>(std::addressof(epilogue)))};
}

}  // namespace detail

void multiply(const Factors& factors);
inline void multiply(ConstMatrix a, ConstMatrix b, Into<Matrix> to) { multiply({a, b, to}); }

// Calls epilogue(block) for each block of C as soon as it is complete, on the thread that made it,
// while it is in that thread's cache. Every number of C is in one block. `epilogue` is under the
// rules of a body of parallel_for. C must not be a transposed view.
template <class Epilogue>
void multiply(ConstMatrix a, ConstMatrix b, Into<Matrix> to, Epilogue&& epilogue) {
  detail::multiply(detail::with_epilogue({a, b, to}, epilogue));
}

// Two products that do not need each other's result, in one shared loop: threads that find no more
// work in the first begin with the second. The epilogue is that of the second.
void multiply_both(const Factors& first, const Factors& second);
template <class Epilogue>
void multiply_both(const Factors& first, const Factors& second, Epilogue&& epilogue) {
  detail::multiply({first}, detail::with_epilogue(second, epilogue));
}

void multiply_each(int64_t count, ConstMatrices a, ConstMatrices b, Into<Matrices> to);

// Floating-point operations of the matrix products that this thread began, 2 m n k for each, dry
// runs included.
int64_t flop_count();
void count_flops(int64_t flops);

}  // namespace heed
