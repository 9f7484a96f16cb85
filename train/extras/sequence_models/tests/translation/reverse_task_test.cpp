#include "train/extras/sequence_models/symbol_pairs.h"
#include "train/extras/toy_tasks/tests/made/made_task_cases.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("reverse: the last symbol comes first") {
  const auto task = made_task("reverse", four_to_sixteen);
  Generator data(3);
  const Batch batch = task->data().next(50, data);
  for (int64_t b = 0; b < 50; ++b) {
    const auto source = row_of(batch.input.source_ids, b), targets = row_of(batch.targets, b);
    const auto length = std::find(source.begin(), source.end(), 32) - source.begin();
    REQUIRE(std::equal(targets.begin(), targets.begin() + length, source.rend() - length));
    REQUIRE(targets[static_cast<size_t>(length)] == 33);
  }
}

TEST_CASE("reverse: 2,000 sequences are held out, none comes up in training") {
  const auto task = made_task("reverse", four_to_sixteen);
  CHECK(check_held_out(*task, 2000) == 2000 + 150 * 64);
  check_streams("reverse", four_to_sixteen);
}
