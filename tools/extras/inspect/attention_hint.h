// After training: the command that shows a run's attention.
#pragma once

#include "train/run_hooks.h"

namespace heed {

class AttentionHint final : public RunHooks {
 public:
  static constexpr const char* help = "how to look at attention";
  using Config = NoFields;

  explicit AttentionHint(const Config&) {}
  // "" if the model attends to nothing that can be shown.
  std::string way_to_look(const RunInTraining& run) override;
};
HEED_RUN_HOOKS(AttentionHint, "way_to_attention");

}  // namespace heed
