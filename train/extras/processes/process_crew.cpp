#include "train/extras/processes/process_crew.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "autograd/threads/machine.h"
#include "train/config/run_config.h"
#include "train/extras/processes/hosts.h"
#include "train/extras/processes/launch.h"
#include "train/extras/processes/shard_sum.h"
#include "train/extras/processes/tally.h"
#include "train/files/fingerprint.h"
#include "train/run/resume.h"

namespace heed {

bool ProcessCrew::launched() const { return launch().has_value(); }

bool ProcessCrew::leads() const {
  const std::optional<Launch> launched = launch();
  return ranks_ != nullptr ? ranks_->rank() == 0 : !launched || launched->rank == 0;
}

// The first words between processes, which all understand.
void ProcessCrew::join(const std::string& command) {
  ranks_ = &connect();
  if (size() == 1) {
    return;
  }
  std::vector<ProcessInfo> places;
  for (const std::string& host : gather(host_name())) {
    places.push_back({.host = host});
  }
  require_same(*ranks_, places,
               {{"heedgrad", HEED_VERSION},
                {"libheedgrad", fingerprint_file(library_file()).text()},
                {"their command", command}});
}

Acquaintance ProcessCrew::introduce(const LoadedRun& run) {
  if (size() == 1) {
    return {};
  }
  const std::vector<ProcessInfo> places = divide_threads(*ranks_);
  std::map<std::string, std::string> programs = run.made_with();
  programs["vector unit"] = simd_name(cpu().simd);  // libraries choose their loops by it
  const char* const forced = std::getenv("HEED_KERNELS");
  programs["HEED_KERNELS"] = forced != nullptr ? forced : "";
  require_same(*ranks_, places, programs);  // first: they can make the configs differ
  require_same(*ranks_, places, values_without_locations(run.resolved));
  const TrainConfig& train = run.config.train;
  require<ConfigError>(
      size() <= train.shards, "train.shards: ", size(),
      " processes were started, expected at most train.shards = ", train.shards,
      "; each takes at least one shard, and shards divide train.accumulate = ", train.accumulate);
  const std::string& here = places[static_cast<size_t>(ranks_->rank())].host;
  const auto on_this_host = std::count_if(
      places.begin(), places.end(), [&](const ProcessInfo& other) { return other.host == here; });
  return {{"processes  " + describe(places)}, static_cast<int>(on_this_host)};
}

void ProcessCrew::let_leader_speak() { let_rank_0_speak(); }

std::string ProcessCrew::agree(std::string own) { return from_first(*ranks_, std::move(own)); }

std::vector<std::string> ProcessCrew::gather(const std::string& own) {
  return gather_all(*ranks_, own);
}

std::unique_ptr<GradientSum> ProcessCrew::gradient_sum(
    const std::vector<NamedParameter>& parameters, int64_t accumulate, int64_t shards) {
  if (size() == 1) {
    return Crew::gradient_sum(parameters, accumulate, shards);
  }
  return std::make_unique<ShardSum>(parameters, accumulate, shards, *ranks_);
}

double ProcessCrew::gradient_copies(int64_t shards) const {
  return heed::gradient_copies(shards, size(), ranks_->rank());
}

Part ProcessCrew::share_of(int64_t count) const { return part_of(count, size(), ranks_->rank()); }

Tally ProcessCrew::total(Tally own) { return sum_of_all(*ranks_, std::move(own)); }

}  // namespace heed
