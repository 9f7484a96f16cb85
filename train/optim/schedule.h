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

// Linear warm-up, common to all schedules here. The learning rate is never 0.
//   step <= warmup_steps:  lr step / (warmup_steps + 1)
//   after that             ratio = (step - 1 - warmup_steps) / (steps - warmup_steps), from 0 to 1
// As in nanoGPT, whose iteration number is step - 1.
class WarmupSchedule : public Schedule {
 public:
  struct Config {
    int64_t warmup_steps = 0;
    void fields(Fields& f);
  };

  WarmupSchedule(const Config& c, const ScheduleSetup& setup)
      : setup_(setup), warmup_steps_(c.warmup_steps) {}

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

class ConstantSchedule final : public WarmupSchedule {
 public:
  static constexpr const char* help = "the full learning rate all the way";
  using WarmupSchedule::WarmupSchedule;

 protected:
  double after_warmup(double) const override { return full_lr(); }
};
HEED_SCHEDULE(ConstantSchedule, "constant");

// Decay from the full learning rate to min_lr.
class FallingSchedule : public WarmupSchedule {
 public:
  struct Config : WarmupSchedule::Config {
    double min_lr = 0;
    void fields(Fields& f);
  };

  FallingSchedule(const Config& c, const ScheduleSetup& setup)
      : WarmupSchedule(c, setup), min_lr_(c.min_lr) {}

 protected:
  double min_lr() const { return min_lr_; }

 private:
  const double min_lr_;
};

// lr + (min_lr - lr) ratio
class LinearSchedule final : public FallingSchedule {
 public:
  static constexpr const char* help = "falls to min_lr in a straight line";
  using FallingSchedule::FallingSchedule;

 protected:
  double after_warmup(double ratio) const override;
};
HEED_SCHEDULE(LinearSchedule, "linear");

// min_lr + (1 + cos(pi ratio)) / 2 (lr - min_lr): Loshchilov and Hutter 2017.
class CosineSchedule final : public FallingSchedule {
 public:
  static constexpr const char* help = "falls to min_lr along half a cosine";
  using FallingSchedule::FallingSchedule;

 protected:
  double after_warmup(double ratio) const override;
};
HEED_SCHEDULE(CosineSchedule, "cosine");

// The full rate, then a fall to min_lr in the last share f = decay_fraction of the steps after the
// warm-up: "WSD" of Hu et al. 2024, arXiv:2404.06395, section 4. A run is continued from a
// checkpoint before the fall without knowing its length in advance.
//   lr + (min_lr - lr) max(0, ratio - (1 - f)) / f
class StableDecaySchedule final : public FallingSchedule {
 public:
  static constexpr const char* help = "the full learning rate, falling to min_lr at the end";
  struct Config : FallingSchedule::Config {
    double decay_fraction = 0.2;
    void fields(Fields& f);
  };
  StableDecaySchedule(const Config& c, const ScheduleSetup& setup)
      : FallingSchedule(c, setup), decay_fraction_(c.decay_fraction) {}

 protected:
  double after_warmup(double ratio) const override;

 private:
  const double decay_fraction_;
};
HEED_SCHEDULE(StableDecaySchedule, "stable_decay");

}  // namespace heed
