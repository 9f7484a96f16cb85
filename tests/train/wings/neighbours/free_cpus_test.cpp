#include "train/wings/neighbours/free_cpus.h"

#include <doctest/doctest.h>

#include <vector>

using namespace heed;

TEST_CASE("neighbours: fewer threads next to other programs, half of them at least") {
  struct Case {
    int free_cpus, threads, expected;
  };
  for (const Case& c : std::vector<Case>{{2, 2, 2},   // quiet
                                         {1, 2, 1},   // one busy neighbour
                                         {0, 2, 1},   // two
                                         {7, 8, 7},   // one on eight cores
                                         {0, 8, 4},   // eight
                                         {-1, 7, 4},  // rounding of what was measured
                                         {30, 8, 8},  // a larger machine, of which we may use 8
                                         {1, 1, 1}}) {
    CAPTURE(c.free_cpus);
    CAPTURE(c.threads);
    CHECK(threads_beside(c.free_cpus, c.threads) == c.expected);
  }
}

TEST_CASE("neighbours: time of this process passes as it computes, on the machine too") {
  const CpuTime before = cpu_time();
  CpuTime after = before;
  while (after.process < before.process + 0.1) after = cpu_time();
  CHECK(after.machine >= before.machine);  // by less where this process is niced
}
