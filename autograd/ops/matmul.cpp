#include "autograd/ops/matmul.h"

#include <algorithm>
#include <cstring>

namespace heed::detail {

namespace {

Shape batch_of(const Shape& shape) {
  return Shape(shape.dims().first(static_cast<size_t>(shape.rank() - 2)));
}

Shape with_matrix(const Shape& batch, int64_t rows, int64_t columns) {
  return batch.inserted(batch.rank(), rows).inserted(batch.rank() + 1, columns);
}

Trans flipped(Trans t) { return t == Trans::no ? Trans::yes : Trans::no; }

// The leading dimension of rows of `columns` elements; gemm requires at least 1.
int64_t leading(int64_t columns) { return std::max<int64_t>(columns, 1); }

// y (batch, m, n) = op(a) @ op(b) + beta y. Forward and backward differ in extents, strides and
// transpositions only.
void products(int64_t batch, Trans ta, Trans tb, int64_t m, int64_t n, int64_t k, const real* a,
              int64_t lda, int64_t stride_a, const real* b, int64_t ldb, int64_t stride_b,
              real beta, real* y) {
  if (batch == 1) {
    gemm(ta, tb, m, n, k, 1, a, lda, b, ldb, beta, y, leading(n));
  } else {
    batched_gemm(batch, ta, tb, m, n, k, 1, a, lda, stride_a, b, ldb, stride_b, beta, y, leading(n),
                 m * n);
  }
}

}  // namespace

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
  parallel_for(batch.size(), row_grain(matrix), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      std::memcpy(to + i * matrix, from + reader.row_offset(i) * matrix,
                  sizeof(real) * static_cast<size_t>(matrix));
    }
  });
  return y;
}

MatmulOperands plan_matmul(const Array& a, const Array& b, Trans ta, Trans tb) {
  require(a.rank() >= 2 && b.rank() >= 2, "matmul: expected matrices (..., m, k) and (..., k, n), ",
          "got ", a.shape(), " and ", b.shape());
  MatmulPlan plan;
  plan.ta = ta;
  plan.tb = tb;
  plan.m = ta == Trans::no ? a.dim(-2) : a.dim(-1);
  plan.k = ta == Trans::no ? a.dim(-1) : a.dim(-2);
  plan.n = tb == Trans::no ? b.dim(-1) : b.dim(-2);
  plan.lda = leading(a.dim(-1));
  plan.ldb = leading(b.dim(-1));
  const int64_t k_of_b = tb == Trans::no ? b.dim(-2) : b.dim(-1);
  require(plan.k == k_of_b, "matmul: expected (..., m, k) @ (..., k, n), got ", a.shape(),
          ta == Trans::yes ? " transposed" : "", " @ ", b.shape(),
          tb == Trans::yes ? " transposed" : "", ": k is ", plan.k, " and ", k_of_b);

  const Shape batch_a = batch_of(a.shape()), batch_b = batch_of(b.shape());
  const Shape batch = broadcast("matmul", batch_a, batch_b);
  const Shape out = with_matrix(batch, plan.m, plan.n);
  const bool shared_b = batch_b.size() == 1, shared_a = batch_a.size() == 1;
  if (shared_b && ta == Trans::no) {
    plan.m = batch.size() * plan.m;  // fold the batch of a into its rows
    return {a, b, plan, out};
  }
  plan.batch = batch.size();
  plan.stride_a = shared_a ? 0 : a.dim(-2) * a.dim(-1);
  plan.stride_b = shared_b ? 0 : b.dim(-2) * b.dim(-1);
  return {shared_a ? a : stretch_batch(a, batch), shared_b ? b : stretch_batch(b, batch), plan,
          out};
}

void run_matmul(const MatmulPlan& p, const real* a, const real* b, real beta, real* y) {
  products(p.batch, p.ta, p.tb, p.m, p.n, p.k, a, p.lda, p.stride_a, b, p.ldb, p.stride_b, beta, y);
}

void matmul_backward(const MatmulOperands& operands, const Array& dy, Grads& grads) {
  const MatmulPlan& p = operands.plan;
  const int64_t stride_y = p.m * p.n;
  // A matrix that the whole batch shares gets one gradient per use; they are summed here. The
  // gradient of a stretched operand is summed by add().
  const auto put = [&](size_t input, const Array& operand, auto&& compute) {
    const Shape full =
        p.batch == 1 ? operand.shape() : Shape{p.batch, operand.dim(-2), operand.dim(-1)};
    Array gradient = Array::uninitialised(full);
    compute(gradient.mutable_data());
    if (full.size() != operand.size()) {
      gradient = sum_to(gradient, {operand.dim(-2), operand.dim(-1)});
    }
    grads.add(input, gradient.reshaped(operand.shape()));
  };
  if (grads.needs(0)) {
    put(0, operands.a, [&](real* da) {
      if (p.ta == Trans::no) {  // da (m, k) = dy (m, n) @ op(b)^T
        products(p.batch, Trans::no, flipped(p.tb), p.m, p.k, p.n, dy.data(), leading(p.n),
                 stride_y, operands.b.data(), p.ldb, p.stride_b, 0, da);
      } else {  // da (k, m) = op(b) (k, n) @ dy^T
        products(p.batch, p.tb, Trans::yes, p.k, p.m, p.n, operands.b.data(), p.ldb, p.stride_b,
                 dy.data(), leading(p.n), stride_y, 0, da);
      }
    });
  }
  if (grads.needs(1)) {
    put(1, operands.b, [&](real* db) {
      if (p.tb == Trans::no) {  // db (k, n) = op(a)^T @ dy
        products(p.batch, flipped(p.ta), Trans::no, p.k, p.n, p.m, operands.a.data(), p.lda,
                 p.stride_a, dy.data(), leading(p.n), stride_y, 0, db);
      } else {  // db (n, k) = dy^T @ op(a)
        products(p.batch, Trans::yes, p.ta, p.n, p.k, p.m, dy.data(), leading(p.n), stride_y,
                 operands.a.data(), p.lda, p.stride_a, 0, db);
      }
    });
  }
}

}  // namespace heed::detail
