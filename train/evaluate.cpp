#include "train/evaluate.h"

#include <algorithm>
#include <chrono>

#include "layers/module/evaluation_mode.h"

namespace heed {

Evaluation evaluate(Module& model, const Task& task, Split split, int64_t batch_size,
                    std::optional<int64_t> batches) {
  const auto start = std::chrono::steady_clock::now();
  const EvaluationMode mode(model);
  const int64_t available = task.example_count(split);
  require<ConfigError>(available > 0, "evaluate: the data has no ",
                       split == Split::train ? "training" : "validation",
                       " part (data.train_fraction)");
  const int64_t count = batches ? std::min(available, *batches * batch_size) : available;
  const int64_t stride = available / count;
  double loss = 0;
  Score score;
  for (int64_t done = 0; done < count; done += batch_size) {
    const int64_t size = std::min(batch_size, count - done);
    const Batch batch = task.examples(split, done * stride, stride, size);
    const Tensor output = model(batch.input);
    loss += static_cast<double>(task.loss(output, batch).sum.item());
    task.score(output.value(), batch, score);
  }
  const auto share = [](int64_t part, int64_t whole) {
    return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0.0;
  };
  return {
      .loss = score.targets > 0 ? loss / static_cast<double>(score.targets) : 0.0,
      .tokens = score.targets,
      .accuracy = share(score.right, score.targets),
      .exact_match = share(score.sequences.exact, score.sequences.all),
      .by_length = std::move(score.by_length),
      .seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()};
}

}  // namespace heed
