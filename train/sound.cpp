#include "train/sound.h"

#include <cmath>

#include "autograd/graph/anomaly.h"
#include "layers/module/evaluation_mode.h"
#include "train/evaluate.h"

namespace heed {

void require_finite(double value, const std::string& what) {
  if (!std::isfinite(value)) {
    fail<DivergedError>("the ", what, " is ", std::isnan(value) ? "NaN" : "infinite");
  }
}

void require_finite_gradients(double norm, const std::vector<NamedParameter>& parameters) {
  if (std::isfinite(norm)) {
    return;
  }
  for (const NamedParameter& parameter : parameters) {
    const Array g = parameter.tensor.grad();
    require<DivergedError>(!g || all_finite(g), "the gradient of ", parameter.name,
                           " is not finite");
  }
  require_finite(norm, "norm of the gradients");  // gradients are finite, but the norm overflows
}

namespace {

// Of training examples, else of validation examples. A task with neither (a stream) gives a batch
// drawn from another generator than that of training.
double loss_of_one_batch(Module& model, Task& task, int64_t batch_size, uint64_t seed) {
  for (const Split split : {Split::train, Split::validation}) {
    if (task.example_count(split) > 0) {
      return evaluate(model, task, split, batch_size, 1).loss;
    }
  }
  const EvaluationMode mode(model);
  const std::vector<int64_t> position = task.position();
  Generator generator(seed);
  const Batch batch = task.next(batch_size, generator);
  task.set_position(position);
  return static_cast<double>(task.loss(model(batch.input), batch).sum.item());
}

}  // namespace

void require_sound_weights(Module& model, Task& task, int64_t batch_size, uint64_t seed) {
  for (const NamedParameter& parameter : model.parameters()) {
    require<DivergedError>(all_finite(parameter.tensor.value()), parameter.name,
                           " is not finite after its update");
  }
  const double loss = loss_of_one_batch(model, task, batch_size, seed);
  require<DivergedError>(std::isfinite(loss), "the loss is ", std::isnan(loss) ? "NaN" : "infinite",
                         " after its update");
}

}  // namespace heed
