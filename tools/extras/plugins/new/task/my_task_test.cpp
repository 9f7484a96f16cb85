#include "my_task.h"

#include <heed/testing.h>

using namespace heed;

// Sizes that agree, ids and targets within their vocabulary, the same batches from the same state,
// dry runs, an answer to a prompt. Each failure says how to fix it.
TEST_CASE("my_task: everything that is expected of a task") {
  testing::check_task("{type: my_task}");
  testing::check_task("{type: my_task, length: 20, symbols: 5, distance: 7}");
}

// The two tests below are of the sample: replace them when the questions are your own.
TEST_CASE("my_task: targets are the symbols before") {
  mine::MyTask task({.length = 10, .symbols = 4, .distance = 3}, {});
  Generator data(1);
  const Batch batch = task.data().next(2, data);
  REQUIRE(batch.targets.shape() == Shape{2, 10});
  for (int64_t i = 0; i < 20; ++i) {
    const int64_t t = i % 10;
    const int32_t want = t < 3 ? ignored_target : batch.input.ids.data()[i - 3];
    CHECK(batch.targets.data()[i] == want);
  }
}

TEST_CASE("my_task: prompts") {
  const mine::MyTask task({.length = 10, .symbols = 4, .distance = 3}, {});
  task.check_prompt("0 1 2 3");
  CHECK_THROWS_AS(task.check_prompt("0 1 2"), ConfigError);    // nothing stands 3 places before
  CHECK_THROWS_AS(task.check_prompt("0 1 2 4"), ConfigError);  // symbols are 0 to 3
  CHECK(task.target_name(3) == "3");
}
