#include "train/optim/schedule.h"

namespace heed {

ScheduleRegistry& schedule_registry() {
  static ScheduleRegistry& registry = ScheduleRegistry::filled("schedule", register_schedules);
  return registry;
}

}  // namespace heed
