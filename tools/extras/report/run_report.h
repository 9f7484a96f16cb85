// The report of a run during training: report.json and report.html in its folder.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "tools/extras/report/data.h"
#include "tools/extras/report/record.h"
#include "train/run_hooks.h"

namespace heed {

// Nothing here throws, because a report must never end a run. The first failure is returned by
// trouble(), and the report is given up.
class RunReport final : public RunHooks {
 public:
  static constexpr const char* help = "report.json and report.html";
  using Config = NoFields;

  explicit RunReport(const Config& = {}) {}

  // Requires, in a dry run, that a model has the heads whose scores the config asks for.
  void prepare(Module& model, const LoadedRun& loaded, ConfigErrors& errors) const override;
  // Continues after `step` with the entries of report.json up to there. A new run starts with a
  // snapshot of its attention before training.
  void on_begin(const RunInTraining& run, int64_t step) override;
  // Adds the metrics and a snapshot. Writes both files if that takes at most 5% of the run's time.
  void on_evaluation(int64_t step, const Evaluation& evaluation) override;
  // Adds a snapshot, unless this step has one or diverged, and writes both files.
  void on_end(int64_t step, bool diverged) override;
  std::string way_to_look(const RunInTraining& run) override;
  std::string trouble() override { return std::exchange(trouble_, ""); }

 private:
  using Clock = std::chrono::steady_clock;

  template <class F>
  void attempt(F&& f);
  void add_snapshot(int64_t step);
  void add_head_scores(int64_t step);
  void add_classes(const Evaluation& evaluation);
  void write(bool over);
  GoingOn going_on(Clock::time_point now) const;

  std::optional<RunInTraining> run_;
  ReportRecord record_;
  std::vector<Score::HardExample> hardest_;  // of the last evaluation, until they are written
  std::optional<int64_t> last_snapshot_;     // the step of the last snapshot
  std::string trouble_;
  bool given_up_ = false;
  Clock::time_point not_before_ = {}, last_written_ = {};
};
HEED_RUN_HOOKS(RunReport, "report");

}  // namespace heed
