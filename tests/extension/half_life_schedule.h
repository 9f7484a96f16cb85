// A schedule: the learning rate halves every so many steps.
//   lr_t = lr 2^(-(t - 1) / half_life)
#pragma once

#include <heed/train/optimizer.h>

#include <cmath>

namespace extension {

using namespace heed;

class HalfLifeSchedule final : public Schedule {
 public:
  static constexpr const char* help = "halves every so many steps";

  struct Config {
    int64_t half_life = 1000;
    void fields(Fields& f) {
      f.optional("half_life", half_life, at_least(1), "steps after which the rate is half");
    }
  };

  HalfLifeSchedule(const Config& c, const ScheduleSetup& setup)
      : lr_(setup.lr), half_life_(static_cast<double>(c.half_life)) {}

  double lr(int64_t step) const override {
    return lr_ * std::exp2(-static_cast<double>(step - 1) / half_life_);
  }

 private:
  const double lr_, half_life_;
};

}  // namespace extension

HEED_SCHEDULE(extension::HalfLifeSchedule, "half_life");
