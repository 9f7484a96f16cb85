// What a checkpoint is not written without: weights that are finite, and give a finite loss.
#pragma once

#include <cmath>

#include "autograd/array/reduce.h"
#include "layers/module/evaluation_mode.h"
#include "train/evaluate.h"

namespace heed {

namespace detail {
// Of training examples, else of validation examples. A task with neither (a stream) gives a batch
// drawn from another generator than that of training.
inline double loss_of_one_batch(Module& model, Task& task, int64_t batch_size, uint64_t seed) {
  for (const Split split : {Split::train, Split::validation}) {
    if (task.data().example_count(split) > 0) {
      return evaluate(model, task, split, batch_size, 1).loss;
    }
  }
  const EvaluationMode mode(model);
  const std::vector<int64_t> position = task.data().position();
  Generator generator(seed);
  const Batch batch = task.data().next(batch_size, generator);
  task.data().set_position(position);
  return static_cast<double>(task.loss(model(batch.input), batch).sum.item());
}

}  // namespace detail

// Throws DivergedError unless all weights are finite and give a finite loss. The loss of a step is
// computed before its update, so it does not show whether the last update was bad. Finite weights
// can still be too large for a forward pass, so one fixed batch is evaluated.
inline void require_sound_weights(Module& model, Task& task, int64_t batch_size, uint64_t seed) {
  for (const NamedParameter& parameter : model.parameters()) {
    require<DivergedError>(all_finite(parameter.tensor.value()), parameter.name,
                           " is not finite after its update");
  }
  const double loss = detail::loss_of_one_batch(model, task, batch_size, seed);
  require<DivergedError>(std::isfinite(loss), "the loss is ", std::isnan(loss) ? "NaN" : "infinite",
                         " after its update");
}

}  // namespace heed
