#include "train/step.h"

#include <algorithm>

#include "autograd/graph/graph_observer.h"
#include "autograd/random/streams.h"
#include "layers/module/added_losses.h"
#include "train/check/finite.h"

namespace heed {

namespace {

// The loss of a micro-batch, and its backward pass.
LossSum forward_and_backward(Module& model, const Task& task, const Batch& batch,
                             GradientSum& sum) {
  GraphObserver::each([](GraphObserver& observer) { observer.forward_begins(); });
  const AddedLosses added;  // collects losses that layers add
  const BatchLoss loss = task.training_loss(model, batch);
  LossSum sums{0, loss.counted};
  Tensor total = loss.sum;
  for (const auto& [name, mean] : added.by_name) {
    const Tensor of_targets = static_cast<real>(loss.counted) * mean;
    sums.added[name] = static_cast<double>(of_targets.item());
    total = total + of_targets;
  }
  total.backward(sum.scale(loss.counted));
  sums.loss = static_cast<double>(loss.sum.item());  // see Task::training_loss
  return sums;
}

void require_finite_step(const StepResult& result, const std::vector<NamedParameter>& parameters) {
  require_finite(result.loss, "loss");
  for (const auto& [name, loss] : result.added) require_finite(loss, name);
  require_finite_gradients(result.grad_norm, parameters);
}

}  // namespace

StepResult train_step(Module& model, Task& task, Optimizer& optimizer, const TrainConfig& config,
                      double lr, const Batch* only, Workers& workers,
                      const std::function<bool(double grad_norm, double scale)>& may_update) {
  const auto sum = workers.gradient_sum(optimizer.parameters(), config);
  for (int64_t i = 0; i < config.accumulate; ++i) {
    const Batch batch = only ? *only : task.data().next(config.batch_size, streams().data());
    if (!sum->begin(i, model, batch)) continue;  // another process computes it
    sum->add(forward_and_backward(model, task, batch, *sum));
  }
  const LossSum all = sum->total();
  const auto targets = static_cast<double>(std::max<int64_t>(1, all.targets));
  // The gradients are divided by the targets expected after the first micro-batch. This corrects
  // them to the targets counted; it is 1 if all micro-batches have equally many.
  const double correction = sum->expected_targets() / targets;
  StepResult result{.loss = all.loss / targets,
                    .grad_norm = correction * grad_norm(optimizer.parameters()),
                    .tokens = all.targets};
  for (const auto& [name, loss] : all.added) result.added[name] = loss / targets;
  if (!dry_run()) require_finite_step(result, optimizer.parameters());
  const double clip =
      config.clip_grad_norm ? clip_factor(result.grad_norm, *config.clip_grad_norm) : 1.0;
  const bool updates = !may_update || may_update(result.grad_norm, correction);
  if (updates) optimizer.step(lr, correction * clip);
  optimizer.zero_grad();
  return result;
}

std::vector<NamedParameter> trained_parameters(const Module& model) {
  std::vector<NamedParameter> all = model.parameters();
  std::erase_if(all, [](const NamedParameter& each) { return !each.tensor.requires_grad(); });
  return all;
}

Batch batch_to_overfit(Dataset& dataset, const RunConfig& config) {
  Generator data(static_cast<uint64_t>(config.seed));
  return dataset.next(config.train.batch_size, data);
}

}  // namespace heed
