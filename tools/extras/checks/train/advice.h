// Warnings about settings that hardly are what was meant.
#pragma once

#include "train/run_hooks.h"

namespace heed {

class RunAdvice final : public RunHooks {
 public:
  static constexpr const char* help = "odd settings, and what the model sees";
  using Config = NoFields;

  explicit RunAdvice(const Config&) {}
  // Parameters that a step leaves as they are.
  std::vector<std::string> about_model(const LoadedRun& run, Module& model) const override;
  // A small model is built, to see whether it looks at tokens that it has to predict.
  std::vector<std::string> about_run(const LoadedRun& run, const Plan& plan) const override;
};
HEED_RUN_HOOKS(RunAdvice, "examine");

}  // namespace heed
