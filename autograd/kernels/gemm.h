// Matrix products: the door to OpenBLAS (openblas.h) and to our own kernels; choice.h says which of
// them computes a product.
//
//   multiply(a, b, into(c))                 C = A B
//   multiply(a, b, into(c, true))           C = A B + C
//   multiply(a.transposed(), b, into(c))    C = A^T B
//   multiply(a, b, into(c), epilogue)       C = A B, and epilogue(block) for each block of it
//   multiply_each(count, a, b, into(c))     C[i] = A[i] B[i] for i < count
//
// C is cut into tiles, or the depth k into halves, as the shape alone says, and the parts are
// shared between threads: the same shape gives the same bits for any number of threads. With a
// depth of 0, A B is 0. Errors: ShapeError for factors or a C that do not fit together, and for a
// dimension that is negative, beyond 2^31 - 1, or longer than the step between the rows in memory;
// ConfigError for a wrong HEED_KERNELS.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

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

namespace detail {
using Epilogue = void (*)(void* context, const Block& block);
void multiply(ConstMatrix a, ConstMatrix b, Into<Matrix> to, Epilogue epilogue, void* context);
}  // namespace detail

void multiply(ConstMatrix a, ConstMatrix b, Into<Matrix> to);

// Calls epilogue(block) for each block of C as soon as it is complete, on the thread that made it,
// while it is in that thread's cache. Every number of C is in one block. `epilogue` is under the
// rules of a body of parallel_for. C must not be a transposed view.
template <class Epilogue>
void multiply(ConstMatrix a, ConstMatrix b, Into<Matrix> to, Epilogue&& epilogue) {
  using Plain = std::remove_reference_t<Epilogue>;
  detail::multiply(
      a, b, to, [](void* context, const Block& block) { (*static_cast<Plain*>(context))(block); },
      const_cast<void*>(static_cast<const void*>(std::addressof(epilogue))));
}

void multiply_each(int64_t count, ConstMatrices a, ConstMatrices b, Into<Matrices> to);

// C = A B, all of it by OpenBLAS and not counted: what multiply is measured against.
void multiply_by_openblas(ConstMatrix a, ConstMatrix b, Matrix c);

// Floating-point operations of matrix products since the program started: 2 m n k for each,
// dry runs included.
int64_t flop_count();
void count_flops(int64_t flops);

}  // namespace heed
