#include "tools/commands/processes.h"

#include "train/parallel/company.h"
#include "train/resume.h"

namespace heed::cli {

std::string processes_text(Communicator& ranks, const LoadedRun& run, bool threads_given) {
  const std::vector<Place> places = divide_threads(ranks, threads_given);
  std::map<std::string, std::string> values = values_without_locations(run.resolved);
  values.merge(run.made_with());
  require_same(ranks, places, values);
  const TrainConfig& train = run.config.train;
  require<ConfigError>(
      ranks.size() <= train.shards, "train.shards: ", ranks.size(),
      " processes were started, expected at most train.shards = ", train.shards,
      "; each takes at least one shard, and shards divide train.accumulate = ", train.accumulate);
  return ranks.size() > 1 ? "processes  " + describe(places) : "";
}

}  // namespace heed::cli
