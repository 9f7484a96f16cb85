// What all schedules begin with: the learning rate rises in a straight line, never from 0.
//   step <= warmup_steps:  lr step / (warmup_steps + 1)
//   after that             ratio = (step - 1 - warmup_steps) / (steps - warmup_steps), from 0 to 1
// nanoGPT's rule, with its iteration number being step - 1.
#pragma once

#include "train/optim/schedule.h"

namespace heed {

class WarmupSchedule : public Schedule {
 public:
  WarmupSchedule(const ScheduleSetup& setup, int64_t warmup_steps)
      : setup_(setup), warmup_steps_(warmup_steps) {}

  double lr(int64_t step) const final;
  std::string warning() const override;

 protected:
  // The learning rate at a ratio in [0, 1] of the way after the warm-up.
  virtual double after_warmup(double ratio) const = 0;
  double full_lr() const { return setup_.lr; }

 private:
  const ScheduleSetup setup_;
  const int64_t warmup_steps_;
};

// Options of the schedules that fall from the full learning rate to min_lr.
struct FallingConfig {
  int64_t warmup_steps = 0;
  double min_lr = 0;
  void fields(Fields& f);
};

}  // namespace heed
