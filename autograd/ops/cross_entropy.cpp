#include "autograd/ops/cross_entropy.h"

namespace heed {

int64_t counted_targets(const Ids& targets, int32_t ignore_index) {
  if (dry_run()) {
    return targets.size();
  }
  const std::span<const int32_t> ids = targets.span();
  return std::count_if(ids.begin(), ids.end(), [=](int32_t id) { return id != ignore_index; });
}

namespace detail {

namespace {

// Rows of n logits per chunk. An element costs more than in an elementwise loop: an exponential in
// the backward, the search for the maximum as well in the forward.
int64_t forward_grain(int64_t n) { return row_grain(4 * n, sum_grain); }
int64_t backward_grain(int64_t n) { return row_grain(2 * n); }

struct RowStats {
  real top, log_sum;
};

RowStats stats_of_row(const real* x, int64_t n) {
  const real top = row_max(x, n);
  return {top, row_is_masked(x, n, top) ? real{0} : fast_log(row_sum_exp(x, n, top))};
}

// -ln softmax(x)_t. In a row that is all -infinity, x_t - top would be NaN; a row with a NaN or
// +infinity has none but NaN.
double row_loss(const RowStats& s, real x_t) {
  if (x_t == minus_infinity && !std::isnan(s.log_sum)) {
    return std::numeric_limits<double>::infinity();
  }
  return static_cast<double>(s.log_sum) - static_cast<double>(x_t - s.top);
}

}  // namespace

void check_cross_entropy(const Shape& logits, const Ids& targets, CrossEntropyOptions options) {
  require(logits.rank() >= 1 && logits[-1] >= 1,
          "cross_entropy: expected logits (..., V >= 1), got ", logits);
  require(targets.shape() == logits.without(-1), "cross_entropy: expected targets of shape ",
          logits.without(-1), " for logits ", logits, ", got ", targets.shape());
  check_ids_but("cross_entropy", targets, logits[-1], options.ignore_index);
}

double cross_entropy_weight(const Ids& targets, CrossEntropyOptions options) {
  const int64_t counted = counted_targets(targets, options.ignore_index);
  if (counted == 0) {
    return 0;
  }
  return options.reduction == Reduction::mean ? 1 / static_cast<double>(counted) : 1;
}

double cross_entropy_rows(const Array& logits, const Ids& targets, int32_t ignore_index,
                          Array& row_stats) {
  const int64_t n = logits.dim(-1);
  const real* x = logits.data();
  const int32_t* target = targets.data();
  real* stats = row_stats.mutable_data();
  return parallel_sum(targets.size(), forward_grain(n), [=](int64_t begin, int64_t end) {
    double total = 0;
    for (int64_t r = begin; r < end; ++r) {
      if (target[r] == ignore_index) continue;
      const RowStats s = stats_of_row(x + r * n, n);
      stats[2 * r] = s.top;
      stats[2 * r + 1] = s.log_sum;
      total += row_loss(s, x[r * n + target[r]]);
    }
    return total;
  });
}

void cross_entropy_backward(const Array& logits, const Ids& targets, int32_t ignore_index,
                            const Array& row_stats, double weight, const Array& dy, real* dx) {
  const int64_t n = logits.dim(-1);
  const real *x = logits.data(), *stats = row_stats.data(), *g = dy.data();
  const int32_t* target = targets.data();
  parallel_for(targets.size(), backward_grain(n), [=](int64_t begin, int64_t end) {
    const real scale = *g * static_cast<real>(weight);
    for (int64_t r = begin; r < end; ++r) {
      real* row = dx + r * n;
      const real top = stats[2 * r], log_sum = stats[2 * r + 1];
      if (target[r] == ignore_index || top == minus_infinity) {
        std::fill_n(row, n, real{0});
        continue;
      }
      vector_map(x + r * n, row, n, [=](real v) { return scale * exp_of((v - top) - log_sum); });
      row[target[r]] -= scale;
    }
  });
}

}  // namespace detail

Tensor cross_entropy_composed(const Tensor& logits, const Ids& targets,
                              CrossEntropyOptions options) {
  detail::check_cross_entropy(logits.shape(), targets, options);
  const int64_t n = logits.dim(-1);
  Mask chosen = Mask::zeros({targets.size(), n});
  parallel_each(targets.size(), row_grain(n),
                [&, id = targets.data(), to = chosen.mutable_data()](int64_t r) {
                  if (id[r] != options.ignore_index) to[r * n + id[r]] = 1;
                });
  const Tensor log_probabilities = log_softmax(reshape(logits, chosen.shape()));
  const Tensor total = sum(where(chosen, log_probabilities, real{0}));
  return total * static_cast<real>(-detail::cross_entropy_weight(targets, options));
}

}  // namespace heed
