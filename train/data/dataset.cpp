#include "train/data/dataset.h"

#include <algorithm>
#include <utility>

#include "autograd/base/modes.h"

namespace heed {

const Shape& input_shape(const Batch& batch) {
  return batch.input.ids ? batch.input.ids.shape() : batch.input.x.shape();
}

void require_examples(const std::vector<int64_t>& which, int64_t available) {
  for (const int64_t example : which) {
    require(example >= 0 && example < available, "examples: expected numbers from 0 to ",
            available - 1, ", got ", example);
  }
}

Batch Dataset::next(int64_t batch_size, Generator& data) {
  const int64_t count = std::min(batch_size, example_count(Split::train));
  std::vector<int64_t> which(static_cast<size_t>(count));
  if (!dry_run()) epochs_.next(which, data);
  return examples(Split::train, which);
}

FixedExamples::FixedExamples(const Counts& counts, bool shuffle, Give give, int64_t training_tokens)
    : counts_(counts), give_(std::move(give)), training_tokens_(training_tokens) {
  epochs_ = Epochs(counts.train, shuffle);
}

Batch FixedExamples::examples(Split split, const std::vector<int64_t>& which) const {
  require_examples(which, example_count(split));
  return give_(split, which);
}

Batch NoExamples::next(int64_t batch_size, Generator&) {
  require<ConfigError>(dry_run(), missing);
  const Shape shape = shape_.with(0, batch_size);
  return numbers_
             ? Batch{Input(Tensor(Array::uninitialised(shape))), Ids::uninitialised({batch_size})}
             : Batch{Input(Ids::uninitialised(shape)), Ids::uninitialised(shape)};
}

}  // namespace heed
