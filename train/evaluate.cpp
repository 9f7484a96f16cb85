#include "train/evaluate.h"

#include <algorithm>
#include <chrono>
#include <numbers>

#include "layers/module/evaluation_mode.h"

namespace heed {

namespace {

// Examples begin to end - 1 of `count` that are spread evenly over `available`:
// k available / count, in two parts that cannot overflow.
std::vector<int64_t> evenly_spaced(int64_t available, int64_t count, int64_t begin, int64_t end) {
  std::vector<int64_t> chosen;
  for (int64_t k = begin; k < std::min(end, count); ++k) {
    chosen.push_back(k * (available / count) + k * (available % count) / count);
  }
  return chosen;
}

}  // namespace

int64_t examples_of(const Task& task, Split split, int64_t batch_size,
                    std::optional<int64_t> batches) {
  const int64_t available = task.data().example_count(split);
  return batches && *batches <= available / batch_size ? *batches * batch_size : available;
}

Evaluation evaluate(Module& model, const Task& task, Split split, int64_t batch_size,
                    std::optional<int64_t> batches, Workers& workers) {
  const int64_t count = examples_of(task, split, batch_size, batches);
  return evaluate_examples(model, task, split, batch_size, count, workers).value();
}

std::optional<Evaluation> evaluate_examples(Module& model, const Task& task, Split split,
                                            int64_t batch_size, int64_t count, Workers& workers,
                                            const std::function<bool()>& stop) {
  const auto start = std::chrono::steady_clock::now();
  const EvaluationMode mode(model);
  const int64_t available = task.data().example_count(split);
  require<ConfigError>(available > 0, "evaluate: the data has no ",
                       split == Split::train ? "training" : "validation",
                       " part (data.train_fraction): ", task.description());
  count = std::min(count, available);
  // Fewer examples at a time than in training, where the logits would be large.
  const int64_t length = std::max<int64_t>(1, model.signature().longest.value_or(1));
  batch_size = std::clamp<int64_t>(most_logit_rows(task.output_size()) / length, 1, batch_size);
  const int64_t batches = (count + batch_size - 1) / batch_size;
  const Part own = workers.share_of(batches);
  const int64_t largest_share = (batches + workers.size() - 1) / workers.size();
  Tally tally;
  for (int64_t i = 0; i < largest_share; ++i) {
    if (stop && workers.agree(stop())) {
      return std::nullopt;
    }
    if (own.begin + i >= own.end) {
      continue;  // others have one more
    }
    const int64_t done = (own.begin + i) * batch_size;
    const Batch batch =
        task.data().examples(split, evenly_spaced(available, count, done, done + batch_size));
    const Tensor output = model(batch.input);
    const BatchLoss part = task.loss(output, batch);
    tally.losses.push_back(static_cast<double>(part.sum.item()));
    tally.counted += part.counted;
    tally.bytes += task.target_bytes(batch);
    task.score(output.value(), batch, tally.score);
  }
  const Tally all = workers.total(std::move(tally));
  Evaluation found{all.score};
  found.tokens = all.counted;
  // A validation loss of 0 for nothing would be the best of the run.
  require<ConfigError>(found.tokens > 0 || split == Split::train,
                       "evaluate: the loss counts no target ", "in ", count,
                       " validation examples");
  found.loss = found.tokens > 0 ? all.loss() / static_cast<double>(found.tokens) : 0.0;
  if (all.bytes > 0) {
    found.bits_per_byte = all.loss() / static_cast<double>(all.bytes) / std::numbers::ln2;
  }
  found.accuracy = share_of(found.right, found.targets);
  found.exact_match = share_of(found.sequences.exact, found.sequences.all);
  found.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return found;
}

}  // namespace heed
