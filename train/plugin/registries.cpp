#include "train/data/task.h"
#include "train/optim/optimizer.h"
#include "train/optim/schedule.h"

namespace heed {

namespace {

// Never destroyed, and filled in at first use.
template <class R>
R& filled(const char* kind, void (*fill)(R&)) {
  R& registry = *new R(kind);
  fill(registry);
  return registry;
}

}  // namespace

TaskRegistry& task_registry() {
  static TaskRegistry& registry = filled("task", register_tasks);
  return registry;
}

OptimizerRegistry& optimizer_registry() {
  static OptimizerRegistry& registry = filled("optimizer", register_optimizers);
  return registry;
}

ScheduleRegistry& schedule_registry() {
  static ScheduleRegistry& registry = filled("schedule", register_schedules);
  return registry;
}

}  // namespace heed
