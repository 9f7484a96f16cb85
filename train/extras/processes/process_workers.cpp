#include "train/extras/processes/process_workers.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "autograd/threads/machine.h"
#include "train/config/run_config.h"
#include "train/extras/processes/hosts.h"
#include "train/extras/processes/keys.h"
#include "train/extras/processes/launch.h"
#include "train/extras/processes/shard_sum.h"
#include "train/extras/processes/tally.h"
#include "train/files/fingerprint.h"
#include "train/run/resume.h"

namespace heed {

namespace {

int64_t shards_of(const TrainConfig& config) {
  return std::min(config.extra.get<ShardKeys>().shards, config.accumulate);
}

}  // namespace

bool ProcessWorkers::launched() const { return launch().has_value(); }

int ProcessWorkers::rank() const {
  if (ranks_ != nullptr) return ranks_->rank();
  const std::optional<Launch> launched = launch();
  return launched ? launched->rank : 0;
}

// The first words between processes, which all understand.
void ProcessWorkers::join(const std::string& command) {
  if (!launched()) {
    return;
  }
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

Placement ProcessWorkers::compare(const LoadedRun& run) {
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
  const int64_t shards = shards_of(run.config.train);
  require<ConfigError>(size() <= shards, "train.shards: ", size(),
                       " processes were started, expected at most train.shards = ", shards,
                       "; each takes at least one shard, and shards divide train.accumulate = ",
                       run.config.train.accumulate);
  const std::string& here = places[static_cast<size_t>(ranks_->rank())].host;
  const auto on_this_host = std::count_if(
      places.begin(), places.end(), [&](const ProcessInfo& other) { return other.host == here; });
  return {{"processes  " + describe(places)}, static_cast<int>(on_this_host)};
}

void ProcessWorkers::await_rank_0() { heed::await_rank_0(); }

void ProcessWorkers::leave() {
  if (ranks_ != nullptr) ranks_->leave();
}

std::vector<std::string> ProcessWorkers::gather(const std::string& own) {
  return ranks_ == nullptr ? std::vector{own} : gather_all(*ranks_, own);
}

std::unique_ptr<GradientSum> ProcessWorkers::gradient_sum(
    const std::vector<NamedParameter>& parameters, const TrainConfig& config) {
  const int64_t shards = shards_of(config);
  if (size() == 1) {
    return std::make_unique<GradientSum>(parameters, config.accumulate, shards);
  }
  return std::make_unique<ShardSum>(parameters, config.accumulate, shards, *ranks_);
}

double ProcessWorkers::gradient_copies(const TrainConfig& config) const {
  return heed::gradient_copies(shards_of(config), size(), size() == 1 ? 0 : rank());
}

Tally ProcessWorkers::total(Tally own) {
  return ranks_ == nullptr ? own : sum_of_all(*ranks_, std::move(own));
}

}  // namespace heed
