// Linear decay from the full learning rate to min_lr: lr + (min_lr - lr) ratio.
#pragma once

#include "train/optim/warmup_schedule.h"

namespace heed {

class LinearSchedule final : public WarmupSchedule {
 public:
  static constexpr const char* help = "falls to min_lr in a straight line";
  using Config = FallingConfig;

  LinearSchedule(const Config& c, const ScheduleSetup& setup)
      : WarmupSchedule(setup, c.warmup_steps), min_lr_(c.min_lr) {}

 protected:
  double after_warmup(double ratio) const override {
    return full_lr() + (min_lr_ - full_lr()) * ratio;
  }

 private:
  const double min_lr_;
};
HEED_SCHEDULE(LinearSchedule, "linear");

}  // namespace heed
