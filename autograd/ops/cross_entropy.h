// Cross entropy between logits and target ids, as torch.nn.functional.cross_entropy.
//   logits (..., V), targets (...) -> y ()
//   row r:  l_r = m + ln s - x_t,   m = max_j x_j,  s = sum_j exp(x_j - m),  t = target of the row
//   y = sum of l_r over the rows whose target is not ignore_index, divided by their number for
//   Reduction::mean dx_j = dy / number * (exp(x_j - m) / s - [j = t]),  0 in ignored rows
//                                                   saves logits, targets, and m and ln s of every
//                                                   row
// Nothing but ignored rows: 0, and a gradient of zeros (PyTorch's mean gives NaN). A row of nothing
// but -infinity: infinite loss and a gradient of zeros. When nobody else holds the logits any more,
// their gradient is written over them.
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

// How many targets are not ignored: what losses of Reduction::sum are divided by in the end.
[[nodiscard]] int64_t counted_targets(const Ids& targets, int32_t ignore_index = -100);

// The definition, from log_softmax and a choice of elements.
[[nodiscard]] Tensor cross_entropy_composed(const Tensor& logits, const Ids& targets,
                                            CrossEntropyOptions options = {});

namespace detail {
void check_cross_entropy(const Shape& logits, const Ids& targets, CrossEntropyOptions options);
// 1 / number of counted rows, 1 for a sum, 0 when there are none.
double cross_entropy_weight(const Ids& targets, CrossEntropyOptions options);
// Returns the sum of l_r and fills row_stats (N, 2) with m and ln s of every row.
double cross_entropy_rows(const Array& logits, const Ids& targets, int32_t ignore_index,
                          Array& row_stats);
// dx may be the buffer of the logits.
void cross_entropy_backward(const Array& logits, const Ids& targets, int32_t ignore_index,
                            const Array& row_stats, double weight, const Array& dy, real* dx);
}  // namespace detail

[[nodiscard]] inline Tensor cross_entropy(const Tensor& logits, const Ids& targets,
                                          CrossEntropyOptions options = {}) {
  if (!fused()) {
    return cross_entropy_composed(logits, targets, options);
  }
  detail::check_cross_entropy(logits.shape(), targets, options);
  const double weight = detail::cross_entropy_weight(targets, options);
  Array row_stats = Array::uninitialised({targets.size(), 2});
  const double total =
      detail::cross_entropy_rows(logits.value(), targets, options.ignore_index, row_stats);
  // weight 0 means that nothing was counted: the sum is 0 as well.
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
