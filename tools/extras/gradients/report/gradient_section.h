// The section of report.html that shows gradients.csv: "How the gradients flow".
#pragma once

#include "tools/extras/report/sections.h"

namespace heed {

class GradientSection final : public ReportSection {
 public:
  static constexpr const char* help = "how the gradients flow";
  using Config = NoFields;

  explicit GradientSection(const Config& = {}) {}

  // {"steps", "parameters", "grad_norm", "weight_norm", "update_norm"}: norms by step and
  // parameter. Steps are thinned out, evenly, to at most 60,000 numbers.
  std::string data(const std::filesystem::path& run) const override;
  std::string_view scripts() const override;
};
HEED_SECTIONS(GradientSection, "gradients");

}  // namespace heed
