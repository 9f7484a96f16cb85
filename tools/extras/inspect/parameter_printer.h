// Prints parameters before and after training, as train.show asks.
#pragma once

#include <functional>
#include <vector>

#include "train/run_hooks.h"

namespace heed {

class ParameterPrinter final : public RunHooks {
 public:
  static constexpr const char* help = "the parameters that train.show names";
  using Config = NoFields;

  explicit ParameterPrinter(const Config& = {}) {}

  void on_begin(const RunInTraining& run, int64_t step) override;
  void on_end(int64_t step, bool diverged) override;

 private:
  void print(int64_t step) const;

  std::function<void(const std::string&)> say_;
  std::vector<NamedParameter> shown_;
};
HEED_RUN_HOOKS(ParameterPrinter, "show");

}  // namespace heed
