// Prints parameters before and after training, as train.show asks.
#pragma once

#include "train/trainer.h"

namespace heed::cli {

class ParameterPrinter final : public TrainingListener {
 public:
  // What it prints goes to the terminal and the log of this trainer.
  explicit ParameterPrinter(Trainer& trainer) : trainer_(trainer) {}

  void on_begin(const RunInTraining& run, int64_t step) override;
  void on_evaluation(int64_t, const Evaluation&) override {}
  void on_end(int64_t step, bool diverged) override;

 private:
  void print(int64_t step) const;

  Trainer& trainer_;
  std::vector<NamedParameter> shown_;
};

}  // namespace heed::cli
