// The report of a run that is being trained: report.json and report.html in its folder.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include "train/report/record.h"

namespace heed {

// A report is a picture of a run and never a reason to end it: nothing here throws. The first thing
// that goes wrong is told by trouble(), and no more is tried.
class RunReport {
 public:
  // Goes on after `step`, with what report.json has up to there.
  RunReport(std::filesystem::path run, const LoadedRun& loaded, Module& model, int64_t step);

  // Takes a picture of what the model attends to, and of how good it is.
  void add(int64_t step, const std::optional<Evaluation>& evaluation);
  // Writes both files; unless it is the last time, only if that takes no more than a twentieth of
  // the time of the run.
  void write(bool last);

  // What went wrong, once; "" at any other time.
  std::string trouble() { return std::exchange(trouble_, ""); }

 private:
  template <class F>
  void attempt(F&& f);

  const std::filesystem::path run_;
  const LoadedRun& loaded_;
  Module& model_;
  ReportRecord record_;
  std::string trouble_;
  bool given_up_ = false;
  std::chrono::steady_clock::time_point not_before_ = {};
};

}  // namespace heed
