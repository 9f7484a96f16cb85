#include "train/step.h"

#include <algorithm>

#include "autograd/graph/profile.h"
#include "autograd/random/streams.h"
#include "train/sound.h"
#include "train/wings/processes/optimizer_shards.h"
#include "train/wings/processes/pass_over.h"
#include "train/wings/processes/shard_sum.h"

namespace heed {

StepResult train_step(Module& model, Task& task, Optimizer& optimizer, const TrainConfig& config,
                      double lr, const Batch* only, Communicator& ranks) {
  ShardSum sum(optimizer.parameters(), config.shards, ranks);
  // Gradients are divided by the number of targets in all micro-batches. That is only known after
  // the last one, so it is first estimated from the first micro-batch and corrected at the end.
  double expected = 0;
  const int64_t in_shard = config.accumulate / config.shards;
  for (int64_t shard = 0; shard < config.shards; ++shard) {
    LossSum of_shard;
    for (int64_t i = 0; i < in_shard; ++i) {
      const Batch batch = only ? *only : task.next(config.batch_size, streams().data());
      if (!sum.own().holds(shard)) {
        pass_over(model, batch);
        continue;
      }
      profile_restart();
      const BatchLoss loss = task.loss(model(batch.input), batch);
      if (expected == 0) {  // rank 0 has the first micro-batch
        const int64_t counted = from_first(ranks, loss.counted);
        expected = static_cast<double>(std::max<int64_t>(1, counted) * config.accumulate);
      }
      const auto sending = i == in_shard - 1 ? sum.send_early() : nullptr;
      loss.sum.backward(Array::full({}, static_cast<real>(1 / expected)));
      of_shard.loss += static_cast<double>(loss.sum.item());
      of_shard.targets += loss.counted;
    }
    if (sum.own().holds(shard)) sum.add_shard(of_shard);
  }
  const LossSum all = sum.finish();
  StepResult result{.tokens = all.targets};
  const auto tokens = static_cast<double>(std::max<int64_t>(1, result.tokens));
  const double correction = expected / tokens;  // 1 if all micro-batches have equally many targets
  result.loss = all.loss / tokens;
  result.grad_norm = correction * grad_norm(optimizer.parameters());
  if (!dry_run()) {
    require_finite(result.loss, "loss");
    require_finite_gradients(result.grad_norm, optimizer.parameters());
  }
  const double clip =
      config.clip_grad_norm ? clip_factor(result.grad_norm, *config.clip_grad_norm) : 1.0;
  optimizer.step(lr, correction * clip);
  if (config.shard_optimizer) share_weights(optimizer.parameters(), ranks);
  optimizer.zero_grad();
  return result;
}

Batch batch_to_overfit(Dataset& dataset, const RunConfig& config) {
  Generator data(static_cast<uint64_t>(config.seed));
  return dataset.next(config.train.batch_size, data);
}

}  // namespace heed
