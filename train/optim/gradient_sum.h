// The loss and the gradients of a step, from those of its micro-batches. Gradients are summed
// within a shard in order, then the sums of the shards in theirs:
//
//   accumulate 8, shards 4
//   micro-batch   0 1 | 2 3 | 4 5 | 6 7
//   shard           0 |   1 |   2 |   3      g = ((g_0 + g_1) + g_2) + g_3
//
// So the result depends on both numbers of the config, and on nothing else: not on who computes a
// shard. This class is the loop of a laptop, which computes all of them.
//
//   for each micro-batch i:
//     if (!sum.begin(i, model, batch)) continue;
//     loss = forward(batch);
//     loss.sum.backward(sum.scale(loss.counted));
//     sum.add({loss.sum.item(), loss.counted});
//   sum.total();
#pragma once

#include <map>
#include <string>
#include <vector>

#include "layers/module/module.h"
#include "train/data/dataset.h"

namespace heed {

using NamedLosses = std::map<std::string, double>;

struct LossSum {
  double loss = 0;
  int64_t targets = 0;     // that were counted
  NamedLosses added = {};  // what layers add to the loss, times the targets (added_losses.h)

  LossSum& operator+=(const LossSum& other) {
    loss += other.loss;
    targets += other.targets;
    for (const auto& [name, value] : other.added) added[name] += value;
    return *this;
  }
};

class GradientSum {
 public:
  // `parameters` have no gradient yet, and must outlive the sum. `shards` divides `accumulate`.
  GradientSum(const std::vector<NamedParameter>& parameters, int64_t accumulate, int64_t shards)
      : parameters_(parameters),
        accumulate_(accumulate),
        shards_(shards),
        present_(parameters.size(), '\0'),
        sums_(parameters.size()) {}
  virtual ~GradientSum() = default;
  GradientSum(const GradientSum&) = delete;
  GradientSum& operator=(const GradientSum&) = delete;

  // Before micro-batch i, for each of them in order. False: it is another's to compute, and the
  // random streams are already where its forward pass would leave them. Here: always true.
  virtual bool begin(int64_t micro_batch, Module& model, const Batch& batch);

  // What the backward pass of a micro-batch begins with: 1 / the targets of the whole step. Their
  // number is only known after the last micro-batch, so it is estimated from the first one, which
  // has `counted` targets. Gradients times expected_targets() / targets are those of the mean.
  Array scale(int64_t counted);
  double expected_targets() const { return expected_; }

  // After its backward pass: its loss, in addition to the gradients that the parameters have.
  void add(const LossSum& of_micro_batch);

  // After the last: gives the sums to the parameters, as their gradients, and returns the sum of
  // the losses. A parameter that has no gradient in any shard keeps none.
  virtual LossSum total();

 protected:
  // Targets of the first micro-batch of the step, whoever has computed it.
  virtual int64_t counted_first(int64_t counted) { return counted; }
  // The next shard is complete: takes its loss, and its gradients from the parameters.
  virtual void add_shard(const LossSum& loss);

  // sum <- sum + the gradient of parameter p, which then has none; sum <- the gradient if sum is
  // null. A parameter without a gradient counts as zeros.
  void take(size_t p, Array& sum);

  const std::vector<NamedParameter>& parameters_;
  const int64_t accumulate_, shards_;
  std::string present_;  // a byte a parameter: 1 if any shard has a gradient

  int64_t in_shard() const { return accumulate_ / shards_; }  // micro-batches

 private:
  double expected_ = 0;
  LossSum of_shard_, of_all_;
  int64_t added_ = 0;  // micro-batches
  std::vector<Array> sums_;
};

}  // namespace heed
