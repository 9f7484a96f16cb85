// A scope for evaluation: switches off dropout and graph recording, and restores both at its end.
#pragma once

#include "layers/module/module.h"

namespace heed {

class EvaluationMode {
 public:
  explicit EvaluationMode(Module& model) : model_(model), before_(model.training()) {
    model_.train(false);
  }
  ~EvaluationMode() { model_.train(before_); }
  EvaluationMode(const EvaluationMode&) = delete;
  EvaluationMode& operator=(const EvaluationMode&) = delete;

 private:
  Module& model_;
  const bool before_;
  const NoGrad off_;
};

}  // namespace heed
