// Learning rate schedules. Steps count from 1.
#pragma once

#include "layers/module/registry.h"

namespace heed {

struct ScheduleSetup {
  double lr = 0;      // of the optimizer
  int64_t steps = 0;  // of the whole run
};

class Schedule {
 public:
  virtual ~Schedule() = default;
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
