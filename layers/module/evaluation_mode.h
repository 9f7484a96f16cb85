// A scope for evaluation: switches off dropout and graph recording. At its end every layer has the
// mode that it had before, and the graph is recorded as before. Several may end in any order.
#pragma once

#include "layers/module/module.h"

namespace heed {

class EvaluationMode {
 public:
  explicit EvaluationMode(Module& model) : model_(model) { model.begin_evaluation(); }
  ~EvaluationMode() { model_.end_evaluation(); }
  EvaluationMode(const EvaluationMode&) = delete;
  EvaluationMode& operator=(const EvaluationMode&) = delete;

 private:
  Module& model_;
  const NoGrad off_;
};

}  // namespace heed
