#include "train/data/dataset.h"

#include <algorithm>

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
  if (!dry_run()) {
    epochs_.next(which, data);
  }
  return examples(Split::train, which);
}

int64_t Dataset::model_size(const std::string& name) const {
  for (const auto& [field, size] : model_sizes()) {
    if (field == name) {
      return size;
    }
  }
  return 0;
}

int64_t Dataset::output_size() const {
  const int64_t classes = model_size("num_classes");
  return classes > 0 ? classes : model_size("vocab_size");
}

}  // namespace heed
