#include "tools/wings/processes/processes.h"

#include <algorithm>
#include <cstdlib>

#include "autograd/threads/machine.h"
#include "train/files/fingerprint.h"
#include "train/run/resume.h"
#include "train/wings/processes/company.h"
#include "train/wings/processes/launch.h"

namespace heed::cli {

int run_with_others(const std::function<int()>& command) {
  try {
    return command();
  } catch (...) {
    let_rank_0_speak();
    throw;
  }
}

void require_same_command(Communicator& ranks, const std::string& command) {
  if (ranks.size() == 1) {
    return;
  }
  std::vector<ProcessInfo> places;
  for (const std::string& host : gather_all(ranks, host_name())) {
    places.push_back({.host = host});
  }
  require_same(ranks, places,
               {{"heedgrad", HEED_VERSION},
                {"libheedgrad", fingerprint_file(library_file()).text()},
                {"their command", command}});
}

Processes introduce_processes(Communicator& ranks, const LoadedRun& run) {
  if (ranks.size() == 1) {
    return {};
  }
  const std::vector<ProcessInfo> places = divide_threads(ranks);
  std::map<std::string, std::string> programs = run.made_with();
  programs["vector unit"] = simd_name(cpu().simd);  // libraries choose their loops by it
  const char* const forced = std::getenv("HEED_KERNELS");
  programs["HEED_KERNELS"] = forced != nullptr ? forced : "";
  require_same(ranks, places, programs);  // first: they can make the configs differ
  require_same(ranks, places, values_without_locations(run.resolved));
  const TrainConfig& train = run.config.train;
  require<ConfigError>(
      ranks.size() <= train.shards, "train.shards: ", ranks.size(),
      " processes were started, expected at most train.shards = ", train.shards,
      "; each takes at least one shard, and shards divide train.accumulate = ", train.accumulate);
  const std::string& here = places[static_cast<size_t>(ranks.rank())].host;
  const auto on_this_host = std::count_if(
      places.begin(), places.end(), [&](const ProcessInfo& other) { return other.host == here; });
  Processes processes{{"processes  " + describe(places)},
                      static_cast<int>(on_this_host),
                      std::make_unique<HostWatch>(ranks, places)};
  for (const int rank : processes.watch->unwatched()) {
    processes.plan_lines.push_back(
        text("warning    ", name_of(rank, places), " cannot connect to ", name_of(0, places),
             ": if a host vanishes, MPI alone notices, and may take minutes"));
  }
  return processes;
}

}  // namespace heed::cli
