// What processes tell each other before a run. Whole programs that differ: mpi_test.sh.
#include "train/extras/processes/hosts.h"

#include <doctest/doctest.h>

#include "tests/support/near.h"
#include "train/extras/processes/tests/thread_ranks.h"

using namespace heed;
using namespace heed::testing;

namespace {

using Values = std::map<std::string, std::string>;

// What require_same says on each of the processes, which have these values.
std::vector<std::string> refusals(const std::vector<Values>& of_rank) {
  const std::vector<ProcessInfo> places{{.host = "laptop"}, {.host = "desktop"}, {.host = "attic"}};
  REQUIRE(of_rank.size() <= places.size());
  std::vector<std::string> said(of_rank.size());
  run_ranks(static_cast<int>(of_rank.size()), [&](Communicator& ranks) {
    const auto rank = static_cast<size_t>(ranks.rank());
    said[rank] = error_of([&] { require_same(ranks, places, of_rank[rank]); });
  });
  return said;
}

}  // namespace

TEST_CASE("hosts: another version is refused on all processes, with both named") {
  const Values here{{"heedgrad", "0.1.0"}, {"libheedgrad", "xxh64:1"}, {"their command", "train"}};
  Values there = here;
  there["heedgrad"] = "0.2.0";
  there["libheedgrad"] = "xxh64:2";
  const std::string expected =
      "the processes differ in heedgrad: 0.1.0 on rank 0 on laptop, 0.2.0 on rank 2 on attic; the "
      "bits would not be those of a single process";
  CHECK(refusals({here, here, there}) == std::vector<std::string>(3, expected));
}

TEST_CASE("hosts: a value that one process lacks, and a value that would steer a terminal") {
  CHECK(refusals({{}, {{"HEED_KERNELS", "openblas"}}})[0] ==
        "the processes differ in HEED_KERNELS: nothing on rank 0 on laptop, openblas on rank 1 on "
        "desktop; the bits would not be those of a single process");
  const std::string hostile = refusals({{{"seed", "1"}}, {{"seed", "\x1b[2J"}}})[1];
  CHECK(hostile.find("seed: 1 on rank 0 on laptop, ") != std::string::npos);
  CHECK(hostile.find('\x1b') == std::string::npos);
}

TEST_CASE("hosts: equal processes, and one without a value that is empty on the other") {
  CHECK(refusals({{{"seed", "1"}}, {{"seed", "1"}}}) == std::vector<std::string>(2, "no error"));
  CHECK(refusals({{{"HEED_KERNELS", ""}}, {}}) == std::vector<std::string>(2, "no error"));
}

TEST_CASE("hosts: the processes in the plan") {
  CHECK(describe({{"a", "0", 1}, {"a", "1", 1}, {"b", "0-3", 4}}) ==
        "3: ranks 0 to 1 on a, 1 thread each; rank 2 on b, 4 threads");
}
