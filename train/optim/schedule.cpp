#include "train/optim/schedule.h"

#include <algorithm>
#include <numbers>

#include "autograd/base/elementary.h"

namespace heed {

ScheduleRegistry& schedule_registry() {
  static ScheduleRegistry& registry = ScheduleRegistry::filled("schedule", register_schedules);
  return registry;
}

void WarmupSchedule::Config::fields(Fields& f) {
  f.optional("warmup_steps", warmup_steps, at_least(0), "steps in which the learning rate rises");
}

double WarmupSchedule::lr(int64_t step) const {
  if (step <= warmup_steps_) {
    return setup_.lr * static_cast<double>(step) / (static_cast<double>(warmup_steps_) + 1);
  }
  // A run can continue beyond its last step, or be no longer than its warm-up.
  const auto done = static_cast<double>(step - 1 - warmup_steps_);
  const auto all = static_cast<double>(std::max<int64_t>(1, setup_.steps - warmup_steps_));
  return after_warmup(std::min(1.0, done / all));
}

std::string WarmupSchedule::warning() const {
  return warmup_steps_ == 0 || warmup_steps_ < setup_.steps
             ? ""
             : text("schedule.warmup_steps is ", warmup_steps_, ", but the run has only ",
                    setup_.steps, " steps: the learning rate never gets to ", setup_.lr);
}

void FallingSchedule::Config::fields(Fields& f) {
  WarmupSchedule::Config::fields(f);
  f.optional("min_lr", min_lr, at_least(0), "learning rate that it falls to");
}

double LinearSchedule::after_warmup(double ratio) const {
  return full_lr() + (min_lr() - full_lr()) * ratio;
}

double CosineSchedule::after_warmup(double ratio) const {
  return min_lr() + 0.5 * (1 + circle_at(std::numbers::pi * ratio).cosine) * (full_lr() - min_lr());
}

void StableDecaySchedule::Config::fields(Fields& f) {
  FallingSchedule::Config::fields(f);
  f.optional("decay_fraction", decay_fraction, in_range(0, 1, Bound::open),
             "share of the steps in which it falls");
}

double StableDecaySchedule::after_warmup(double ratio) const {
  const double fallen = std::max(0.0, ratio - (1 - decay_fraction_)) / decay_fraction_;
  return full_lr() + (min_lr() - full_lr()) * fallen;
}

}  // namespace heed
