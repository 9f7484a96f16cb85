#include "train/optim/gradient_sum.h"

#include <algorithm>

#include "autograd/threads/parallel.h"

namespace heed {

namespace {

// sum_i <- sum_i + g_i
void add_to(Array& sum, const Array& g) {
  real* const to = sum.mutable_data();
  const real* const from = g.data();
  parallel_for(sum.size(), elementwise_grain, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) to[i] += from[i];
  });
}

}  // namespace

bool GradientSum::begin(int64_t, Module&, const Batch&) { return true; }

Array GradientSum::scale(int64_t counted) {
  if (expected_ == 0) {
    const int64_t first = std::max<int64_t>(1, counted_first(counted));
    expected_ = static_cast<double>(first * accumulate_);
  }
  return Array::full({}, static_cast<real>(1 / expected_));
}

void GradientSum::add(const LossSum& of_micro_batch) {
  of_shard_ += of_micro_batch;
  if (++added_ % in_shard() == 0) {
    add_shard(of_shard_);
    of_shard_ = {};
  }
}

void GradientSum::add_shard(const LossSum& loss) {
  of_all_ += loss;
  if (shards_ > 1) {  // otherwise the gradients stay where they are
    for (size_t p = 0; p < parameters_.size(); ++p) take(p, sums_[p]);
  }
}

void GradientSum::take(size_t p, Array& sum) {
  Tensor parameter = parameters_[p].tensor;
  Array g = parameter.grad();
  parameter.zero_grad();
  present_[p] = present_[p] != 0 || g ? '\1' : '\0';
  if (!g) {
    g = Array::zeros(parameter.shape());
  }
  if (sum) {
    add_to(sum, g);
  } else {
    sum = std::move(g);
  }
}

LossSum GradientSum::total() {
  for (size_t p = 0; p < parameters_.size(); ++p) {
    if (present_[p] != 0) {
      Tensor parameter = parameters_[p].tensor;
      parameter.set_grad(std::move(sums_[p]));
    }
  }
  return of_all_;
}

}  // namespace heed
