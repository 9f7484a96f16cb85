// Callbacks during training, for reports and monitors. The trainer depends on this interface only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "train/config/run_config.h"

namespace heed {

// A run in training. All members live at least until training ends.
struct RunInTraining {
  std::filesystem::path folder;
  const LoadedRun& loaded;
  Module& model;
};

// The functions must not throw, because a listener must never end a run. They are called between
// two steps and must leave gradients and random streams unchanged.
class TrainingListener {
 public:
  virtual ~TrainingListener() = default;

  // Training starts, or resumes after `step`.
  virtual void on_begin(const RunInTraining& run, int64_t step) = 0;
  // The validation set was evaluated after `step`.
  virtual void on_evaluation(int64_t step, const Evaluation& evaluation) = 0;
  // `step` was the last one. `diverged`: a value is not finite, and the model may be unusable.
  virtual void on_end(int64_t step, bool diverged) = 0;

  // A message for the user about a failure, returned once; otherwise "".
  virtual std::string trouble() { return ""; }
};

}  // namespace heed
