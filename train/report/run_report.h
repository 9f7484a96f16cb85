// The report of a run that is being trained: report.json and report.html in its folder.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "train/report/record.h"
#include "train/run/listener.h"

namespace heed {

// A report is a picture of a run and never a reason to end it: nothing here throws. The first thing
// that goes wrong is told by trouble(), and no more is tried.
class RunReport final : public TrainingListener {
 public:
  // Goes on after `step`, with what report.json has up to there; a new run begins with a picture of
  // what the model attends to before training.
  void on_begin(const RunInTraining& run, int64_t step) override;
  // Adds how good the model is and such a picture, and writes both files if that takes no more than
  // a twentieth of the time of the run.
  void on_evaluation(int64_t step, const Evaluation& evaluation) override;
  // Adds a picture unless this step has one or diverged, and writes both files.
  void on_end(int64_t step, bool diverged) override;
  std::string trouble() override { return std::exchange(trouble_, ""); }

 private:
  template <class F>
  void attempt(F&& f);
  void add_snapshot(int64_t step);
  void write();

  std::optional<RunInTraining> run_;
  ReportRecord record_;
  std::optional<int64_t> last_snapshot_;  // its step
  std::string trouble_;
  bool given_up_ = false;
  std::chrono::steady_clock::time_point not_before_ = {};
};

}  // namespace heed
