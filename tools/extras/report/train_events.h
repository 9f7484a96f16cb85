// heed train --json: a JSON object a line on standard output: {"event": "plan", ...}, then "row"
// for each row of metrics.csv, with null for what was not measured, then "end".
#pragma once

#include "train/run_hooks.h"

namespace heed {

class TrainEvents final : public RunHooks {
 public:
  static constexpr const char* help = "a JSON object a line, for other programs";
  using Config = NoFields;

  explicit TrainEvents(const Config&) {}
  bool prints() const override { return true; }
  void on_plan(const Plan& plan, const LoadedRun& loaded, const std::filesystem::path& folder,
               int64_t step) override;
  void on_metrics(const MetricsRow& row) override;
  void on_ended(Ending ending, int64_t step) override;

 private:
  std::filesystem::path folder_;
  bool is_read_ = true;
};
HEED_RUN_HOOKS(TrainEvents, "events");

}  // namespace heed
