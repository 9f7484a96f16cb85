// What a process does under a launcher. Runs of several processes: mpi_test.sh.
#include "train/extras/processes/launch.h"

#include <doctest/doctest.h>

#include "train/config/run_config.h"
#include "train/extras/processes/hosts.h"
#include "train/extras/processes/keys.h"
#include "train/extras/processes/process_workers.h"
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

TEST_CASE("launch: without a launcher there is one worker") {
  ProcessWorkers processes(ProcessWorkers::Config{});
  Workers& workers = processes;
  workers.join("heed train");
  CHECK(workers.size() == 1);
  CHECK(workers.leads());
  CHECK(workers.agree(7) == 7);
  CHECK(workers.gather("own") == std::vector<std::string>{"own"});
  CHECK(workers.share_of(5).size() == 5);
  CHECK(workers.total({.losses = {1, 2}, .counted = 3}).loss() == 3);
  CHECK(workers.gradient_copies(of_shards(8)) == 2);
  workers.leave();
}

TEST_CASE("launch: several processes agree, gather and share; one is plain") {
  run_ranks(3, [](Communicator& ranks) {
    ProcessWorkers processes(ranks);
    Workers& workers = processes;
    const std::string own = text("rank ", ranks.rank());
    CHECK(workers.size() == 3);
    CHECK(workers.leads() == (ranks.rank() == 0));
    CHECK(workers.agree(10 + ranks.rank()) == 10);
    CHECK(workers.agree(own) == "rank 0");
    CHECK(workers.gather(own) == std::vector<std::string>{"rank 0", "rank 1", "rank 2"});
    const Part share = workers.share_of(7);
    CHECK(share.begin == std::vector<int64_t>{0, 2, 4}[static_cast<size_t>(ranks.rank())]);
    CHECK(workers.gradient_copies(of_shards(4)) == gradient_copies(4, 3, ranks.rank()));
  });
  run_ranks(1, [](Communicator& ranks) {
    ProcessWorkers workers(ranks);
    const std::vector<NamedParameter> none;
    const std::unique_ptr<GradientSum> sum = workers.gradient_sum(none, of_shards(2));
    CHECK(dynamic_cast<ShardSum*>(sum.get()) == nullptr);
    CHECK(workers.gradient_copies(of_shards(8)) == 2);
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
