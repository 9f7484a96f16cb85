#include "train/extras/toy_tasks/modular_addition_task.h"

#include "train/extras/toy_tasks/tests/made/made_task_cases.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("modular_addition: the sum stands behind the equals sign") {
  const auto task = made_task("modular_addition");
  CHECK(task->output_size() == 98);
  Generator data(3);
  const Batch batch = task->data().next(300, data);
  REQUIRE(batch.input.ids.shape() == Shape{300, 3});
  for (int64_t b = 0; b < 300; ++b) {
    const auto ids = row_of(batch.input.ids, b);
    REQUIRE(ids[2] == 97);
    REQUIRE(row_of(batch.targets, b) ==
            std::vector<int32_t>{ignored_target, ignored_target, (ids[0] + ids[1]) % 97});
  }
}

TEST_CASE("modular_addition: all the rest of the table is held out") {
  const auto task = made_task("modular_addition", ConfigNode::map({{"train_fraction", 0.5}}));
  CHECK(task->data().example_count(Split::validation) == 9409 - 4704);
  CHECK(task->data().training_tokens() == 4704);
  CHECK(check_held_out(*task, 4705) == 2000 + 150 * 64);
  check_streams("modular_addition");
  // Every sum that is not held out occurs in training.
  const auto small =
      made_task("modular_addition", ConfigNode::map({{"modulus", 5}, {"train_fraction", 0.6}}));
  Generator data(1);
  const auto rows = asked(small->data().next(2000, data));
  CHECK(std::set<std::vector<int32_t>>(rows.begin(), rows.end()).size() == 15);
  CHECK(small->data().example_count(Split::validation) == 10);
}

TEST_CASE("modular_addition: prompts") {
  const auto task = made_task("modular_addition");
  CHECK(prompt_error(*task, "12 + 85 =") == "no error");
  CHECK(prompt_error(*task, "12 85") == "no error");
  CHECK(prompt_error(*task, "12") == "expected two numbers from 0 to 96, \"12 + 85\", got 1");
  CHECK(prompt_error(*task, "12 97").starts_with("the word 97 (word 2 of the text)"));
}

TEST_CASE("modular_addition: a tiny part of a large table is found at once") {
  const auto task =
      made_task("modular_addition", ConfigNode::map({{"modulus", 1000}, {"train_fraction", 1e-6}}));
  CHECK(task->data().training_tokens() == 1);
  CHECK(task->data().example_count(Split::train) == 1);
  Generator data(1);
  const auto rows = asked(task->data().next(300, data));
  CHECK(std::set<std::vector<int32_t>>(rows.begin(), rows.end()).size() == 1);
  CHECK(rows[0] == asked(all_examples(*task, Split::train))[0]);
  const auto few =
      made_task("modular_addition", ConfigNode::map({{"modulus", 50}, {"train_fraction", 0.01}}));
  CHECK(check_held_out(*few, 2500 - 25) == 25 + 150 * 64);
}
