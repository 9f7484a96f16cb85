// After training: the command that shows a run's attention.
#pragma once

#include "train/listener.h"

namespace heed {

class AttentionHint final : public TrainingListener {
 public:
  static constexpr const char* help = "how to look at attention";
  using Config = NoFields;

  explicit AttentionHint(const Config&) {}
  // "" if the model attends to nothing that can be shown.
  std::string way_to_look(const RunInTraining& run) override;
};
HEED_LISTENER(AttentionHint, "way_to_attention");

}  // namespace heed
