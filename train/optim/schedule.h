// Learning rate schedules: the factor of each step, times the optimizer's own rate. Steps count
// from 1.
#pragma once

#include "layers/module/registry.h"

namespace heed {

struct ScheduleSetup {
  double lr = 0;      // the optimizer's base_lr()
  int64_t steps = 0;  // of the whole run
};

class Schedule {
 public:
  virtual ~Schedule() = default;
  // The learning rate of a step: setup.lr times a factor. The schedule multiplies, not its caller,
  // since the last bit depends on the order: lr step / (warmup_steps + 1) as PyTorch's traces have
  // it, and a min_lr that is reached exactly.
  virtual double lr(int64_t step) const = 0;
  // A warning about options that make little sense together; "" if there is none.
  virtual std::string warning() const { return ""; }
};

using ScheduleRegistry = Registry<Schedule, ScheduleSetup>;
ScheduleRegistry& schedule_registry();
void register_schedules(ScheduleRegistry& registry);

#define HEED_SCHEDULE(Class, name) \
  static_assert(std::is_base_of_v<heed::Schedule, Class>, name " must derive from Schedule")

}  // namespace heed
