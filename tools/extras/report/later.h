// The report of a run in float64. heed-f64 trains it without the page: `heed report RUN` writes one
// from its metrics and samples.
#pragma once

#include <string>

#include "tools/extras/report/train/keys.h"
#include "train/files/human_readable.h"
#include "train/run_hooks.h"

namespace heed {

class ReportLater final : public RunHooks {
 public:
  static constexpr const char* help = "how to make the report of a run in float64";
  using Config = NoFields;

  explicit ReportLater(const Config& = {}) {}

  // Refuses eval.probe, whose scores only a report during training shows.
  void prepare(Module&, const LoadedRun& loaded, ConfigErrors& errors) const override {
    if (loaded.config.purpose != Purpose::train ||
        loaded.config.eval.extra.get<ProbeKeys>().probe == "none") {
      return;
    }
    errors.add_field(loaded.resolved.get("eval"), "probe",
                     "is for precision: float32, which writes the report that shows it");
  }

  std::string way_to_look(const RunInTraining& run) override {
    return "heed report " + shell_word(run.folder.string());
  }
};
HEED_RUN_HOOKS(ReportLater, "report");

}  // namespace heed
