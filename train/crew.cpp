#include "train/crew.h"

#include "train/config/run_config.h"
#include "train/files/on_failure.h"

namespace heed {

std::unique_ptr<GradientSum> Crew::gradient_sum(const std::vector<NamedParameter>& parameters,
                                                const TrainConfig& config) {
  return std::make_unique<GradientSum>(parameters, config.accumulate, /*shards=*/1);
}

Crew& alone() {
  static Crew& one = *crew_registry().make_first().release();
  return one;
}

CrewRegistry& crew_registry() {
  static auto& registry = CrewRegistry::filled("crew", register_crews);
  return registry;
}

std::unique_ptr<Crew> launched_crew(const CrewRegistry& registry) {
  std::unique_ptr<Crew> found;
  for (std::unique_ptr<Crew>& crew : registry.make_all()) {
    if (!crew->launched()) {
      continue;
    }
    if (found) {
      fail<ConfigError>("the environment says that this process belongs to a crew of \"",
                        registry.name_of(*found), "\" and to one of \"", registry.name_of(*crew),
                        "\"; start heed by one launcher");
    }
    found = std::move(crew);
  }
  return found ? std::move(found) : registry.make_first();
}

int run_in_crew(const std::function<int(Crew&)>& command) {
  const std::unique_ptr<Crew> crew = launched_crew();
  const OnFailure wait([&] { crew->let_leader_speak(); });
  return command(*crew);
}

}  // namespace heed
