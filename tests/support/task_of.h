// A task of nothing but its examples.
#pragma once

#include "train/data/task.h"

namespace heed::testing {

class TaskOf final : public Task {
 public:
  explicit TaskOf(std::unique_ptr<Dataset> examples, ModelSizes sizes = {})
      : sizes_(std::move(sizes)) {
    data_ = std::move(examples);
  }
  ModelSizes model_sizes() const override { return sizes_; }
  std::string description() const override { return "examples"; }

 private:
  const ModelSizes sizes_;
};

}  // namespace heed::testing
