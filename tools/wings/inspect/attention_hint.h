// After training: the command that shows a run's attention.
#pragma once

#include "train/listener.h"

namespace heed {

class AttentionHint final : public TrainingListener {
 public:
  static constexpr const char* help = "how to look at attention";
  using Config = NoFields;

  explicit AttentionHint(const Config&) {}
  void on_begin(const RunInTraining&, int64_t) override {}
  void on_evaluation(int64_t, const Evaluation&) override {}
  void on_end(int64_t, bool) override {}
  // "" if the model attends to nothing that can be shown.
  std::string way_to_look(const RunInTraining& run) override;
};
HEED_LISTENER(AttentionHint, "way_to_attention");

}  // namespace heed
