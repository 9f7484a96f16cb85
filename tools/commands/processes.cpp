#include "tools/commands/processes.h"

#include <algorithm>

#include "autograd/threads/machine.h"
#include "train/files/fingerprint.h"
#include "train/parallel/company.h"
#include "train/parallel/launch.h"
#include "train/run/resume.h"

namespace heed::cli {

Processes introduce_processes(Communicator& ranks, const LoadedRun& run, bool threads_given) {
  if (ranks.size() == 1) {
    return {};
  }
  const std::vector<ProcessInfo> places = divide_threads(ranks, threads_given);
  std::map<std::string, std::string> values = values_without_locations(run.resolved);
  values.merge(run.made_with());
  values["vector unit"] = simd_name(cpu().simd);  // libraries choose their loops by it
  values["build"] = fingerprint_file(library_file()).text();
  require_same(ranks, places, values);
  const TrainConfig& train = run.config.train;
  require<ConfigError>(
      ranks.size() <= train.shards, "train.shards: ", ranks.size(),
      " processes were started, expected at most train.shards = ", train.shards,
      "; each takes at least one shard, and shards divide train.accumulate = ", train.accumulate);
  const std::string& here = places[static_cast<size_t>(ranks.rank())].host;
  const auto on_this_host = std::count_if(
      places.begin(), places.end(), [&](const ProcessInfo& other) { return other.host == here; });
  return {"processes  " + describe(places), static_cast<int>(on_this_host)};
}

}  // namespace heed::cli
