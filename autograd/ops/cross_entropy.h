// Cross entropy between logits and target ids, as torch.nn.functional.cross_entropy.
//   logits x (..., V), targets (...) -> y ()
//
//   in row r, with target t:
//     m_r  = max_j x_j
//     s_r  = sum_j exp(x_j - m_r)
//     l_r  = m_r + ln s_r - x_t                              = -ln softmax(x)_t
//   y      = w sum_r l_r                                     over rows whose target counts
//   dx_rj  = dy w (exp(x_j - m_r) / s_r - [j = t])           0 in ignored rows
//   w      = 1 / (number of rows that count) for Reduction::mean, 1 for Reduction::sum
//
// Saves logits, targets, and m_r and ln s_r of every row. A row whose target is ignore_index does
// not count. If no row counts, loss and gradient are 0, where PyTorch's mean is NaN. A row that is
// all -infinity has an infinite loss and a gradient of zeros. The gradient overwrites the buffer of
// the logits if nothing else shares that when the backward runs.
#pragma once

#include "autograd/array/ids.h"
#include "autograd/base/modes.h"
#include "autograd/op.h"
#include "autograd/ops/arithmetic.h"
#include "autograd/ops/log_softmax.h"
#include "autograd/ops/reshape.h"
#include "autograd/ops/sum.h"
#include "autograd/ops/where.h"

namespace heed {

enum class Reduction { mean, sum };

struct CrossEntropyOptions {
  int32_t ignore_index = -100;
  Reduction reduction = Reduction::mean;
};

// The number of targets that count: the divisor for losses of Reduction::sum over several batches.
[[nodiscard]] int64_t counted_targets(const Ids& targets, int32_t ignore_index = -100);

// The definition: the sum of -log_softmax(x)_t, times w.
[[nodiscard]] Tensor cross_entropy_composed(const Tensor& logits, const Ids& targets,
                                            CrossEntropyOptions options = {});

namespace detail {
void check_cross_entropy(const Shape& logits, const Ids& targets, CrossEntropyOptions options);
// w as above; 0 if no row counts.
double cross_entropy_weight(const Ids& targets, CrossEntropyOptions options);
// Returns the sum of l_r and fills row_stats (N, 2) with m_r and ln s_r.
double cross_entropy_rows(const Array& logits, const Ids& targets, int32_t ignore_index,
                          Array& row_stats);
// Writes dx (N, V), which may be the buffer of the logits.
void cross_entropy_backward(const Array& logits, const Ids& targets, int32_t ignore_index,
                            const Array& row_stats, double weight, const Array& dy, real* dx);
}  // namespace detail

[[nodiscard]] inline Tensor cross_entropy(const Tensor& logits, const Ids& ids,
                                          CrossEntropyOptions options = {}) {
  const Ids targets = ids.current();
  if (!fused()) {
    return cross_entropy_composed(logits, targets, options);
  }
  detail::check_cross_entropy(logits.shape(), targets, options);
  const double weight = detail::cross_entropy_weight(targets, options);
  Array row_stats = Array::uninitialised({targets.size(), 2});
  const double total =
      detail::cross_entropy_rows(logits.value(), targets, options.ignore_index, row_stats);
  // If no row counts, weight and total are both 0.
  return record("cross_entropy", Array::full({}, static_cast<real>(total * weight)), {logits},
                [x = logits.value(), targets, row_stats, weight, ignored = options.ignore_index](
                    const Array& dy, Grads& grads) mutable {
                  Array dx = x.unique() ? std::move(x) : Array::uninitialised(x.shape());
                  const Array& from = x ? x : dx;
                  detail::cross_entropy_backward(from, targets, ignored, row_stats, weight, dy,
                                                 dx.mutable_data());
                  grads.add(0, std::move(dx));
                });
}

}  // namespace heed
