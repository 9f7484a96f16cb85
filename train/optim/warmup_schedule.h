// Linear warm-up, common to all schedules. The learning rate is never 0.
//   step <= warmup_steps:  lr step / (warmup_steps + 1)
//   after that             ratio = (step - 1 - warmup_steps) / (steps - warmup_steps), from 0 to 1
// As in nanoGPT, whose iteration number is step - 1.
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
  // The learning rate after the warm-up, at ratio in [0, 1].
  virtual double after_warmup(double ratio) const = 0;
  double full_lr() const { return setup_.lr; }

 private:
  const ScheduleSetup setup_;
  const int64_t warmup_steps_;
};

// Options of the schedules that decay from the full learning rate to min_lr.
struct FallingConfig {
  int64_t warmup_steps = 0;
  double min_lr = 0;
  void fields(Fields& f);
};

}  // namespace heed
