// What extras know about a run before it trains: mistakes in the config about parts of the model,
// and advice where it trains without an error, but hardly as it was meant. A header that ends in
// HEED_ADVISER(Class, "name") is asked for every plan (train/plan.h).
#pragma once

#include <string>
#include <vector>

#include "layers/module/registry.h"

namespace heed {

struct LoadedRun;
struct Plan;

// The functions about_...() return a line for each warning.
class Adviser {
 public:
  virtual ~Adviser() = default;
  // In the plan's dry run. Adds mistakes at their places.
  virtual void check(const LoadedRun& /*run*/, const Module& /*model*/,
                     ConfigErrors& /*errors*/) const {}
  // In the plan's dry run, about the model, in which frozen parameters are constants already. Must
  // leave no gradient.
  virtual std::vector<std::string> about_model(const LoadedRun& /*run*/, Module& /*model*/) const {
    return {};
  }
  // After it, about the whole run. The plan is complete but for the warnings.
  virtual std::vector<std::string> about_run(const LoadedRun& /*run*/, const Plan& /*plan*/) const {
    return {};
  }
};

using AdviserRegistry = Registry<Adviser>;
AdviserRegistry& adviser_registry();
void register_advisers(AdviserRegistry& registry);

// check() of all.
void check_by_advisers(const LoadedRun& run, const Module& model, ConfigErrors& errors);

#define HEED_ADVISER(Class, name) \
  static_assert(std::is_base_of_v<heed::Adviser, Class>, name " must derive from Adviser")

}  // namespace heed
