// A scope for evaluation: switches off dropout and graph recording. At its end every layer has the
// mode that it had before, and the graph is recorded as before.
#pragma once

#include "layers/module/module.h"

namespace heed {

class EvaluationMode {
 public:
  explicit EvaluationMode(Module& model) {
    remember(model);
    model.train(false);
  }
  ~EvaluationMode() {
    for (const auto& [layer, training] : before_) {
      layer->training_ = training;
    }
  }
  EvaluationMode(const EvaluationMode&) = delete;
  EvaluationMode& operator=(const EvaluationMode&) = delete;

 private:
  void remember(Module& layer) {
    before_.emplace_back(&layer, layer.training());
    for (const auto& [name, child] : layer.children()) {
      remember(*child);
    }
  }

  std::vector<std::pair<Module*, bool>> before_;
  const NoGrad off_;
};

}  // namespace heed
