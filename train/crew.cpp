#include "train/crew.h"

#include <numeric>

#include "train/files/on_failure.h"

namespace heed {

double Tally::loss() const { return std::accumulate(losses.begin(), losses.end(), 0.0); }

std::unique_ptr<GradientSum> Crew::gradient_sum(const std::vector<NamedParameter>& parameters,
                                                int64_t accumulate, int64_t shards) {
  return std::make_unique<GradientSum>(parameters, accumulate, shards);
}

Crew& alone() {
  static Crew one;
  return one;
}

CrewRegistry& crew_registry() {
  static CrewRegistry& registry = *[] {
    auto* const filled = new CrewRegistry;
    register_crews(*filled);
    return filled;
  }();
  return registry;
}

std::unique_ptr<Crew> CrewRegistry::make() const {
  std::unique_ptr<Crew> found;
  std::string name;
  for (const Kind& kind : kinds_) {
    std::unique_ptr<Crew> crew = kind.make();
    if (!crew->launched()) {
      continue;
    }
    require<ConfigError>(!found, "the environment says that this process belongs to a crew of \"",
                         name, "\" and to one of \"", kind.name, "\"; start heed by one launcher");
    found = std::move(crew);
    name = kind.name;
  }
  return found ? std::move(found) : std::make_unique<Crew>();
}

int run_in_crew(const std::function<int(Crew&)>& command) {
  const std::unique_ptr<Crew> crew = crew_registry().make();
  const OnFailure wait([&] { crew->let_leader_speak(); });
  return command(*crew);
}

}  // namespace heed
