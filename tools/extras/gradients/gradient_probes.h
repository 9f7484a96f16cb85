// heed probe RUN attribute, teach, reach, and patch --estimate.
#pragma once

#include "tools/extras/probe/question.h"

namespace heed::cli {

class GradientProbes final : public AddedProbes {
 public:
  static constexpr const char* help = "probes of gradients";
  using Config = NoFields;

  explicit GradientProbes(const Config& = {}) {}

  Arguments::Words probes() const override;
  void declare(Arguments& arguments) override;
  std::vector<Belongs> options() const override;
  bool answers(const ProbeOptions& o) const override;
  Found answer(const ProbeOptions& o, const TrainedRun& run) const override;
  std::string_view scripts() const override;

 private:
  Found estimate(const ProbeOptions& o, const TrainedRun& run) const;
  Found teach(const ProbeOptions& o, const TrainedRun& run) const;

  bool estimate_ = false;
  std::optional<double> lr_;
  std::optional<std::string> check_, gradients_;
};

}  // namespace heed::cli

namespace heed {
HEED_PROBES(cli::GradientProbes, "gradients");
}  // namespace heed
