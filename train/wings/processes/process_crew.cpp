#include "train/wings/processes/process_crew.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>

#include "autograd/threads/machine.h"
#include "train/config/run_config.h"
#include "train/files/fingerprint.h"
#include "train/run/resume.h"
#include "train/wings/processes/host_watch.h"
#include "train/wings/processes/hosts.h"
#include "train/wings/processes/launch.h"
#include "train/wings/processes/optimizer_shards.h"
#include "train/wings/processes/shard_sum.h"
#include "train/wings/processes/tally.h"

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
  const auto watch = std::make_shared<HostWatch>(*ranks_, places);
  Acquaintance known{{"processes  " + describe(places)}, static_cast<int>(on_this_host), watch};
  for (const int rank : watch->unwatched()) {
    known.plan_lines.push_back(
        text("warning    ", name_of(rank, places), " cannot connect to ", name_of(0, places),
             ": if a host vanishes, MPI alone notices, and may take minutes"));
  }
  return known;
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

std::vector<NamedParameter> ProcessCrew::divide_updates(
    std::vector<NamedParameter> parameters) const {
  return with_owners(std::move(parameters), *ranks_);
}

void ProcessCrew::share_weights(const std::vector<NamedParameter>& parameters) {
  heed::share_weights(parameters, *ranks_);
}

std::shared_ptr<void> ProcessCrew::whole_state(Optimizer& optimizer) {
  return std::make_shared<WholeState>(optimizer, *ranks_);
}

Part ProcessCrew::share_of(int64_t count) const { return part_of(count, size(), ranks_->rank()); }

Tally ProcessCrew::total(Tally own) { return sum_of_all(*ranks_, std::move(own)); }

double ProcessCrew::seconds_to_communicate(const std::vector<NamedParameter>& parameters,
                                           int64_t shards, bool shard_optimizer) {
  if (size() == 1) {
    return 0;
  }
  const auto begin = std::chrono::steady_clock::now();
  ShardSum sum(parameters, shards, shards, *ranks_);
  for (int64_t shard = 0; shard < sum.own().size(); ++shard) sum.add_shard({});
  sum.total();
  if (shard_optimizer) share_weights(parameters);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace heed
