#include "train/extras/processes/tally.h"

#include <doctest/doctest.h>

#include "train/extras/processes/tests/thread_ranks.h"

using namespace heed;
using namespace heed::testing;

namespace {

Tally tally_of(double loss, int64_t example) {
  Tally own;
  own.losses = {loss};
  own.counted = 3;
  own.score.by_length[2] = {1, 1};
  own.score.confusion = {{1, 2}, {0, 4}};
  own.score.hardest = {{example, loss}};
  return own;
}

}  // namespace

TEST_CASE("tally: counts, classes and the hardest examples of two processes") {
  std::vector<Tally> results(2);
  run_ranks(2, [&](Communicator& ranks) {
    const bool first = ranks.rank() == 0;
    results[static_cast<size_t>(ranks.rank())] =
        sum_of_all(ranks, first ? tally_of(1, 9) : tally_of(2, 5));
  });
  for (const Tally& all : results) {
    CHECK(all.losses == std::vector<double>{1, 2});
    CHECK(all.counted == 6);
    CHECK(all.score.by_length.at(2).all == 2);
    CHECK(all.score.confusion == std::vector<std::vector<int64_t>>{{2, 4}, {0, 8}});
    REQUIRE(all.score.hardest.size() == 2);
    CHECK(all.score.hardest[0].example == 5);
    CHECK(all.score.hardest[1].loss == 1);
  }
}
