#include "train/workers.h"

#include "train/config/run_config.h"
#include "train/files/on_failure.h"

namespace heed {

std::unique_ptr<GradientSum> Workers::gradient_sum(const std::vector<NamedParameter>& parameters,
                                                   const TrainConfig& config) {
  return std::make_unique<GradientSum>(parameters, config.accumulate, /*shards=*/1);
}

Workers& one_worker() {
  static Workers& one = *workers_registry().make_first().release();
  return one;
}

WorkersRegistry& workers_registry() {
  static auto& registry = WorkersRegistry::filled("workers", register_workers);
  return registry;
}

std::unique_ptr<Workers> launched_workers(const WorkersRegistry& registry) {
  std::unique_ptr<Workers> found;
  for (std::unique_ptr<Workers>& workers : registry.make_all()) {
    if (!workers->launched()) {
      continue;
    }
    if (found) {
      fail<ConfigError>("the environment says that this process is a worker of \"",
                        registry.name_of(*found), "\" and one of \"", registry.name_of(*workers),
                        "\"; start heed by one launcher");
    }
    found = std::move(workers);
  }
  return found ? std::move(found) : registry.make_first();
}

int run_with_workers(const std::function<int(Workers&)>& command) {
  const std::unique_ptr<Workers> workers = launched_workers();
  const OnFailure wait([&] { workers->await_rank_0(); });
  return command(*workers);
}

}  // namespace heed
