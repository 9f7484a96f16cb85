#include "tools/commands/threads_that_pay.h"

#include <doctest/doctest.h>

#include <limits>

#include "autograd/threads/machine.h"
#include "autograd/threads/parallel.h"
#include "tests/support/training_run.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("few threads: by the size of a step alone") {
  CHECK(cli::threads_that_pay(0) == 1);
  CHECK(cli::threads_that_pay(149'999'999) == 1);
  CHECK(cli::threads_that_pay(150'000'000) == 2);
  CHECK(cli::threads_that_pay(684'000'000) == 9);
  CHECK(cli::threads_that_pay(3'815'000'000) == 50);  // char-GPT
  CHECK(cli::threads_that_pay(std::numeric_limits<int64_t>::max()) == most_threads);
}

TEST_CASE("few threads: a limit is not a number that was set") {
  const int before = num_threads();
  CHECK(!cli::use_threads_that_pay(1'000'000'000'000));
  CHECK(num_threads() == before);
  const bool was_set = threads_were_set();
  CHECK(cli::use_threads_that_pay(1'000) == (before > 1 && !was_set));
  CHECK(num_threads() == (was_set ? before : 1));
  limit_threads(most_threads);
  CHECK(num_threads() == before);
  limit_threads(1);
  set_num_threads(3);
  CHECK(num_threads() == 3);
  limit_threads(most_threads);
  set_num_threads(before);
}

TEST_CASE("few threads: the plan of a small model says so") {
  const TempDir folder;
  const std::string few = succeeded({"train", write_config(folder), "--dry-run"}).out;
  const bool limited = contains(few, "\nthreads    1 (the model is too small for more), on ");
  CHECK(limited == (requested_threads() == 0 && default_threads() > 1));
}
