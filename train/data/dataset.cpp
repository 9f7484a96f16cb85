#include "train/data/dataset.h"

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

int64_t Dataset::output_size() const {
  int64_t tokens = 0;
  for (const auto& [field, size] : model_sizes()) {
    if (field == "num_classes") {
      return size;
    }
    tokens = field == "vocab_size" ? size : tokens;
  }
  return tokens;
}

}  // namespace heed
