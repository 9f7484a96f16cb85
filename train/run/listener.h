// Following a run while it trains: reports, monitors. The trainer knows this interface only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "train/config/run_config.h"

namespace heed {

// A run that is being trained. All parts live at least until training ends.
struct RunInTraining {
  std::filesystem::path folder;
  const LoadedRun& loaded;
  Module& model;
};

// The functions may not throw: a listener is never a reason to end a run. Each is called between
// two steps, with gradients and random streams where training needs them: leave both as they are.
class TrainingListener {
 public:
  virtual ~TrainingListener() = default;

  // Training starts, or continues after `step`.
  virtual void on_begin(const RunInTraining& run, int64_t step) = 0;
  // The validation set was evaluated after `step`.
  virtual void on_evaluation(int64_t step, const Evaluation& evaluation) = 0;
  // No step follows after `step`. `diverged`: a number is not finite, and the model may be useless.
  virtual void on_end(int64_t step, bool diverged) = 0;

  // A line for the user about what did not work, once; "" at any other time.
  virtual std::string trouble() { return ""; }
};

}  // namespace heed
