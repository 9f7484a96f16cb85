// The report of a run in float64. heed-f64 trains it without the page: `heed report RUN` writes one
// from its metrics and samples.
#pragma once

#include <string>

#include "tools/extras/report/train/keys.h"
#include "train/config/checks_between_sections.h"
#include "train/files/number_words.h"
#include "train/listener.h"

namespace heed {

class ReportLater final : public TrainingListener {
 public:
  static constexpr const char* help = "how to make the report of a run in float64";
  using Config = NoFields;

  explicit ReportLater(const Config& = {}) {}

  // Throws ConfigError for eval.probe, whose scores only a report during training shows.
  void check(const LoadedRun& loaded) const override {
    if (loaded.config.eval.extra.get<ProbeKeys>().probe == "none") return;
    ConfigErrors errors;
    attempt(errors, loaded.resolved.get("eval"), "probe", [] {
      fail<ConfigError>("is for precision: float32, which writes the report that shows it");
    });
    errors.throw_if_any();
  }

  std::string way_to_look(const RunInTraining& run) override {
    return "heed report " + shell_word(run.folder.string());
  }
};
HEED_LISTENER(ReportLater, "report");

}  // namespace heed
