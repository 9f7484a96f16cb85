// heed train --json: a JSON object a line on standard output: {"event": "plan", ...}, then "row"
// for each row of metrics.csv, with null for what was not measured, then "end".
#pragma once

#include "train/trainer.h"

namespace heed::cli {

class JsonLines final : public TrainingListener {
 public:
  explicit JsonLines(bool on) : on_(on) {}

  // steps: of the whole run. A dry run has no trainer, and so no folder and no step.
  void plan(const Plan& plan, int64_t steps, const Trainer* trainer = nullptr);
  void end(const Trainer& trainer, Ending ending);

  void on_metrics(const MetricsRow& row) override;
  void on_begin(const RunInTraining&, int64_t) override {}
  void on_evaluation(int64_t, const Evaluation&) override {}
  void on_end(int64_t, bool) override {}

 private:
  bool on_;  // until nobody reads any more
};

}  // namespace heed::cli
