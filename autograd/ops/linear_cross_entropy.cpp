#include "autograd/ops/linear_cross_entropy.h"

namespace heed {

namespace {

// As our own kernels cut the depth of dweight (gemm/packed.cpp).
int64_t rows_of_piece(int64_t rows) {
  const int64_t pieces = std::max<int64_t>(1, (rows + 383) / 384);
  return (rows + 16 * pieces - 1) / (16 * pieces) * 16;
}

}  // namespace

Tensor linear_cross_entropy(const Tensor& x, const Tensor& weight, const Ids& ids) {
  static constexpr CrossEntropyOptions summed{.reduction = Reduction::sum};
  const Ids targets = ids.current();
  detail::check_linear(x.shape(), weight.shape(), Tensor());
  detail::check_cross_entropy(x.shape().with(-1, weight.dim(0)), targets, summed);
  Array y = Array::zeros({});
  Tensor loss = record(
      "linear_cross_entropy", y, {x, weight},
      [x = x.value(), w = weight.value(), targets, y](const Array& dy, Grads& grads) mutable {
        const int64_t rows = targets.size(), width = w.dim(1), most = rows_of_piece(rows);
        const Grads::Target dw = grads.target_if_needed(1), dx = grads.target_if_needed(0);
        const Array room = Array::uninitialised({most, w.dim(0)});
        double total = 0;
        for (int64_t at = 0; at < rows; at += most) {
          const int64_t n = std::min(most, rows - at);
          const ConstMatrix piece = as_matrix(x).rows(at, at + n);
          Ids of_piece = Ids::uninitialised({n});
          if (!dry_run()) std::copy_n(targets.data() + at, n, of_piece.mutable_data());
          Array logits = room.prefix({n, w.dim(0)}), stats = Array::uninitialised({n, 2});
          multiply(piece, as_matrix(w).transposed(), into(as_writable_matrix(logits)));
          total += detail::cross_entropy_rows(logits, of_piece, summed.ignore_index, stats);
          detail::cross_entropy_backward(logits, of_piece, summed.ignore_index, stats, 1, dy,
                                         logits.mutable_data());
          if (dw.data != nullptr) {
            const Matrix to(dw.data, w.dim(0), width);
            multiply(as_matrix(logits).transposed(), piece, into(to, dw.add || at > 0));
          }
          if (dx.data != nullptr) {  // an epilogue: not in halves of V, as that of many rows is not
            const Matrix to(dx.data + at * width, n, width);
            multiply(as_matrix(logits), as_matrix(w), into(to, dx.add), [](const Block&) {});
          }
        }
        if (!dry_run()) *y.mutable_data() = static_cast<real>(total);
      });
  require<GraphError>(loss.requires_grad(), "linear_cross_entropy: nothing requires a gradient");
  return loss;
}

}  // namespace heed
