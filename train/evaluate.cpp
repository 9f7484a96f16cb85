#include "train/evaluate.h"

#include <algorithm>

#include "autograd/ops/cross_entropy.h"
#include "layers/evaluation_mode.h"

namespace heed {

namespace {

struct Counts {
  int64_t targets = 0, right = 0, sequences = 0, exact = 0;
};

// logits (..., V) against targets (B, ...): a sequence is what shares the first index.
void count_right(const Array& logits, const Ids& targets, Counts& counts) {
  const int64_t width = logits.dim(-1);
  const int64_t sequences = targets.rank() > 0 ? targets.dim(0) : 1;
  const int64_t length = sequences > 0 ? targets.size() / sequences : 0;
  for (int64_t s = 0; s < sequences; ++s) {
    bool exact = true;
    for (int64_t i = s * length; i < (s + 1) * length; ++i) {
      const int32_t target = targets.data()[i];
      if (target == ignored_target) {
        continue;
      }
      const real* row = logits.data() + i * width;
      const bool right = std::max_element(row, row + width) - row == target;
      ++counts.targets;
      counts.right += right ? 1 : 0;
      exact = exact && right;
    }
    ++counts.sequences;
    counts.exact += exact ? 1 : 0;
  }
}

}  // namespace

Evaluation evaluate(Module& model, const Task& task, Split split, int64_t batch_size,
                    std::optional<int64_t> batches) {
  const EvaluationMode mode(model);
  const int64_t available = task.example_count(split);
  require<ConfigError>(available > 0, "evaluate: the data has no ",
                       split == Split::train ? "training" : "validation",
                       " part (data.train_fraction)");
  const int64_t count = batches ? std::min(available, *batches * batch_size) : available;
  const int64_t stride = available / count;
  double loss = 0;
  Counts counts;
  for (int64_t done = 0; done < count; done += batch_size) {
    const int64_t size = std::min(batch_size, count - done);
    const Batch batch = task.examples(split, done * stride, stride, size);
    const Tensor logits = model(batch.input);
    const CrossEntropyOptions summed{.ignore_index = ignored_target, .reduction = Reduction::sum};
    loss += static_cast<double>(cross_entropy(logits, batch.targets, summed).item());
    count_right(logits.value(), batch.targets, counts);
  }
  const auto share = [](int64_t part, int64_t whole) {
    return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0.0;
  };
  return {counts.targets > 0 ? loss / static_cast<double>(counts.targets) : 0.0, counts.targets,
          share(counts.right, counts.targets), share(counts.exact, counts.sequences)};
}

}  // namespace heed
