// What a process does under a launcher. Runs of several processes: mpi_test.sh.
#include "train/extras/processes/launch.h"

#include <doctest/doctest.h>

#include "train/config/run_config.h"
#include "train/extras/processes/hosts.h"
#include "train/extras/processes/keys.h"
#include "train/extras/processes/process_crew.h"
#include "train/extras/processes/shard_sum.h"
#include "train/extras/processes/tests/thread_ranks.h"

using namespace heed;
using namespace heed::testing;

namespace {

TrainConfig of_shards(int64_t shards) {
  TrainConfig config;
  config.accumulate = shards;
  config.extra.own<ShardKeys>().shards = shards;
  return config;
}

}  // namespace

TEST_CASE("launch: a process on its own") {
  run_ranks(1, [](Communicator& ranks) {
    CHECK(from_first(ranks, 7) == 7);
    CHECK(from_first(ranks, std::string("a\0b", 3)) == std::string("a\0b", 3));
    CHECK(gather_all(ranks, "own") == std::vector<std::string>{"own"});
    const std::vector<ProcessInfo> places = divide_threads(ranks);
    REQUIRE(places.size() == 1);
    CHECK(places[0].host == host_name());
    require_same(ranks, places, {{"seed", "1"}});
  });
}

TEST_CASE("launch: without a launcher the crew is one process") {
  ProcessCrew processes(ProcessCrew::Config{});
  Crew& crew = processes;
  crew.join("heed train");
  CHECK(crew.size() == 1);
  CHECK(crew.leads());
  CHECK(crew.agree(7) == 7);
  CHECK(crew.gather("own") == std::vector<std::string>{"own"});
  CHECK(crew.share_of(5).size() == 5);
  CHECK(crew.total({.losses = {1, 2}, .counted = 3}).loss() == 3);
  CHECK(crew.gradient_copies(of_shards(8)) == 2);
  crew.leave();
}

TEST_CASE("launch: a crew of several processes agrees, gathers and shares; one of one is plain") {
  run_ranks(3, [](Communicator& ranks) {
    ProcessCrew processes(ranks);
    Crew& crew = processes;
    const std::string own = text("rank ", ranks.rank());
    CHECK(crew.size() == 3);
    CHECK(crew.leads() == (ranks.rank() == 0));
    CHECK(crew.agree(10 + ranks.rank()) == 10);
    CHECK(crew.agree(own) == "rank 0");
    CHECK(crew.gather(own) == std::vector<std::string>{"rank 0", "rank 1", "rank 2"});
    const Part share = crew.share_of(7);
    CHECK(share.begin == std::vector<int64_t>{0, 2, 4}[static_cast<size_t>(ranks.rank())]);
    CHECK(crew.gradient_copies(of_shards(4)) == gradient_copies(4, 3, ranks.rank()));
  });
  run_ranks(1, [](Communicator& ranks) {
    ProcessCrew crew(ranks);
    const std::vector<NamedParameter> none;
    const std::unique_ptr<GradientSum> sum = crew.gradient_sum(none, of_shards(2));
    CHECK(dynamic_cast<ShardSum*>(sum.get()) == nullptr);
    CHECK(crew.gradient_copies(of_shards(8)) == 2);
  });
}

TEST_CASE("launch: memory of gradients, in copies of all of them") {
  CHECK(gradient_copies(1, 1, 0) == 1);
  CHECK(gradient_copies(8, 1, 0) == 2);
  CHECK(gradient_copies(2, 2, 0) == 1.5);
  CHECK(gradient_copies(2, 2, 1) == 1.5);
  CHECK(gradient_copies(4, 2, 0) == 3);  // two, and half of the two shards of rank 1
  CHECK(gradient_copies(4, 2, 1) == 2.5);
}
