#include "train/check/adviser.h"

#include "train/config/run_config.h"

namespace heed {

AdviserRegistry& adviser_registry() {
  static auto& registry = AdviserRegistry::filled("adviser", register_advisers);
  return registry;
}

void check_by_advisers(const LoadedRun& run, const Module& model, ConfigErrors& errors) {
  for (const std::unique_ptr<Adviser>& adviser : adviser_registry().make_all()) {
    adviser->check(run, model, errors);
  }
}

}  // namespace heed
