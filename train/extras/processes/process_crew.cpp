#include "train/extras/processes/process_crew.h"

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

bool ProcessCrew::launched() const { return launch().has_value(); }

bool ProcessCrew::leads() const {
  const std::optional<Launch> launched = launch();
  return ranks_ != nullptr ? ranks_->rank() == 0 : !launched || launched->rank == 0;
}

// The first words between processes, which all understand.
void ProcessCrew::join(const std::string& command) {
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

void ProcessCrew::let_leader_speak() { let_rank_0_speak(); }

void ProcessCrew::leave() {
  if (ranks_ != nullptr) ranks_->leave();
}

std::string ProcessCrew::agree(std::string own) {
  return ranks_ == nullptr ? own : from_first(*ranks_, std::move(own));
}

std::vector<std::string> ProcessCrew::gather(const std::string& own) {
  return ranks_ == nullptr ? std::vector{own} : gather_all(*ranks_, own);
}

std::unique_ptr<GradientSum> ProcessCrew::gradient_sum(
    const std::vector<NamedParameter>& parameters, const TrainConfig& config) {
  const int64_t shards = shards_of(config);
  if (size() == 1) {
    return std::make_unique<GradientSum>(parameters, config.accumulate, shards);
  }
  return std::make_unique<ShardSum>(parameters, config.accumulate, shards, *ranks_);
}

double ProcessCrew::gradient_copies(const TrainConfig& config) const {
  return heed::gradient_copies(shards_of(config), size(), rank());
}

Part ProcessCrew::share_of(int64_t count) const { return part_of(count, size(), rank()); }

Tally ProcessCrew::total(Tally own) {
  return ranks_ == nullptr ? own : sum_of_all(*ranks_, std::move(own));
}

}  // namespace heed
