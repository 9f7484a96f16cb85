#include "train/own_data/hardest.h"

#include "autograd/graph/graph.h"
#include "autograd/ops/log_softmax.h"

namespace heed {

void add_hardest(const Array& logits, const Batch& batch, Score& score) {
  const NoGrad no_graph;
  const Array log_p = log_softmax(Tensor(logits)).value();
  const int64_t width = logits.dim(-1), count = std::ssize(batch.numbers);
  const int64_t each = count > 0 ? batch.targets.size() / count : 0;
  for (int64_t b = 0; b < count; ++b) {
    double sum = 0;
    int64_t counted = 0;
    for (int64_t i = b * each; i < (b + 1) * each; ++i) {
      const int32_t target = batch.targets.data()[i];
      if (target != ignored_target) {
        sum -= static_cast<double>(log_p.data()[i * width + target]);
        ++counted;
      }
    }
    if (counted > 0) {
      score.hardest.push_back(
          {batch.numbers[static_cast<size_t>(b)], sum / static_cast<double>(counted)});
    }
  }
  score.keep_hardest();
}

}  // namespace heed
