// A constant learning rate, after an optional warm-up.
#pragma once

#include "train/optim/warmup_schedule.h"

namespace heed {

class ConstantSchedule final : public WarmupSchedule {
 public:
  static constexpr const char* help = "the full learning rate all the way";

  struct Config {
    int64_t warmup_steps = 0;
    void fields(Fields& f) {
      f.optional("warmup_steps", warmup_steps, at_least(0),
                 "steps in which the learning rate rises")
          .also_known_as({"warmup_iters"});
    }
  };

  ConstantSchedule(const Config& c, const ScheduleSetup& setup)
      : WarmupSchedule(setup, c.warmup_steps) {}

 protected:
  double after_warmup(double) const override { return full_lr(); }
};
HEED_SCHEDULE(ConstantSchedule, "constant");

}  // namespace heed
