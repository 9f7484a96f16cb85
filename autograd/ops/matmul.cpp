#include "autograd/ops/matmul.h"

#include <cstring>

namespace heed::detail {

namespace {

Shape batch_of(const Shape& shape) {
  return Shape(shape.dims().first(static_cast<size_t>(shape.rank() - 2)));
}

Shape with_matrix(const Shape& batch, int64_t rows, int64_t columns) {
  return batch.inserted(batch.rank(), rows).inserted(batch.rank() + 1, columns);
}

// op(x) of each matrix of x (..., rows, columns). A single one has stride 0.
ConstMatrices matrices_of(const Array& x, Trans t) {
  const int64_t rows = x.dim(-2), columns = x.dim(-1);
  const bool single = batch_of(x.shape()).size() == 1;
  return {ConstMatrix(x.data(), rows, columns).transposed(t), single ? 0 : rows * columns};
}

// Copies x (..., rows, columns) to (batch..., rows, columns), for batches that broadcast. Returns x
// itself if it has that shape.
Array stretch_batch(const Array& x, const Shape& batch) {
  const Shape target = with_matrix(batch, x.dim(-2), x.dim(-1));
  if (x.shape() == target) {
    return x;
  }
  Array y = Array::uninitialised(target);
  const int64_t matrix = x.dim(-2) * x.dim(-1);
  // Over the shape (batch..., 1), row i is matrix i: the reader gives its index in x.
  const BroadcastReader reader(batch_of(x.shape()).inserted(x.rank() - 2, 1),
                               batch.inserted(batch.rank(), 1));
  const real* from = x.data();
  real* to = y.mutable_data();
  parallel_rows(batch.size(), matrix, [&](int64_t i) {
    std::memcpy(to + i * matrix, from + reader.row_offset(i) * matrix,
                sizeof(real) * static_cast<size_t>(matrix));
  });
  return y;
}

}  // namespace

ConstMatrices MatmulOperands::op_a() const {
  return folded ? ConstMatrices{as_matrix(a)} : matrices_of(a, ta);
}

ConstMatrices MatmulOperands::op_b() const { return matrices_of(b, tb); }

MatmulOperands matmul_operands(const Array& a, const Array& b, Trans ta, Trans tb) {
  require(a.rank() >= 2 && b.rank() >= 2, "matmul: expected matrices (..., m, k) and (..., k, n), ",
          "got ", a.shape(), " and ", b.shape());
  const ConstMatrix op_a = matrices_of(a, ta).first, op_b = matrices_of(b, tb).first;
  require(op_a.columns() == op_b.rows(), "matmul: expected (..., m, k) @ (..., k, n), got ",
          a.shape(), ta == Trans::yes ? " transposed" : "", " @ ", b.shape(),
          tb == Trans::yes ? " transposed" : "", ": k is ", op_a.columns(), " and ", op_b.rows());

  const Shape batch_a = batch_of(a.shape()), batch_b = batch_of(b.shape());
  const Shape batch = broadcast("matmul", batch_a, batch_b);
  const Shape out = with_matrix(batch, op_a.rows(), op_b.columns());
  if (batch_b.size() == 1 && ta == Trans::no) {
    return {a, b, ta, tb, true, 1, out};
  }
  const auto of_batch = [&](const Array& x) {
    return batch_of(x.shape()).size() == 1 ? x : stretch_batch(x, batch);
  };
  return {of_batch(a), of_batch(b), ta, tb, false, batch.size(), out};
}

void matmul_backward(const MatmulOperands& operands, const Array& dy, Grads& grads) {
  // d op(x) = left @ right, of each matrix. A matrix that the whole batch shares gets one gradient
  // per use; they are summed here. The gradient of a stretched operand is summed by add().
  const auto put = [&](size_t input, const Array& x, Trans t, ConstMatrices left,
                       ConstMatrices right) {
    const int64_t count = operands.count, rows = x.dim(-2), columns = x.dim(-1);
    Array dx = Array::uninitialised(count == 1 ? x.shape() : Shape{count, rows, columns});
    const Matrix first = operands.folded && input == 0 ? as_writable_matrix(dx)
                                                       : Matrix(dx.mutable_data(), rows, columns);
    multiply_each(count, left, right, into(Matrices{first, rows * columns}.transposed(t)));
    if (dx.size() != x.size()) {
      dx = sum_to(dx, {rows, columns});
    }
    grads.add(input, dx.reshaped(x.shape()));
  };
  const ConstMatrices dy_matrices = operands.results(dy.data());
  if (grads.needs(0)) {
    put(0, operands.a, operands.ta, dy_matrices, operands.op_b().transposed());
  }
  if (grads.needs(1)) {
    put(1, operands.b, operands.tb, operands.op_a().transposed(), dy_matrices);
  }
}

}  // namespace heed::detail
