// Cosine decay from the full learning rate to min_lr (Loshchilov and Hutter 2017):
//   min_lr + (1 + cos(pi ratio)) / 2 (lr - min_lr)
#pragma once

#include <cmath>
#include <numbers>

#include "train/optim/warmup_schedule.h"

namespace heed {

class CosineSchedule final : public WarmupSchedule {
 public:
  static constexpr const char* help = "falls to min_lr along half a cosine";
  using Config = FallingConfig;

  CosineSchedule(const Config& c, const ScheduleSetup& setup)
      : WarmupSchedule(setup, c.warmup_steps), min_lr_(c.min_lr) {}

 protected:
  double after_warmup(double ratio) const override {
    return min_lr_ + 0.5 * (1 + std::cos(std::numbers::pi * ratio)) * (full_lr() - min_lr_);
  }

 private:
  const double min_lr_;
};
HEED_SCHEDULE(CosineSchedule, "cosine");

}  // namespace heed
