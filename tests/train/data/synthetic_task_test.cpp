#include "train/data/synthetic_task.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "tests/support/training_run.h"

using namespace heed;
using namespace heed::testing;

namespace {

std::unique_ptr<Task> made_synthetic(int64_t vocab_size, int64_t tokens, uint64_t seed = 1) {
  TaskSetup setup;
  setup.seed = seed;
  const ConfigNode config =
      ConfigNode::map({{"vocab_size", vocab_size}, {"tokens", tokens}, {"context_length", 4}});
  return task_registry().make("synthetic", config, setup);
}

// The inputs of the first training windows, concatenated.
std::vector<int32_t> first_tokens(const Task& task, int64_t windows) {
  const Ids ids = task.data().examples(Split::train, first_examples(windows)).input.ids;
  return {ids.data(), ids.data() + ids.size()};
}

}  // namespace

TEST_CASE("synthetic: the tokens are torch.randint under the seed") {
  // torch.manual_seed(1); torch.randint(50257, (8,))
  CHECK(first_tokens(*made_synthetic(50257, 1000), 2) ==
        std::vector<int32_t>{36879, 24856, 49718, 21496, 38950, 26420, 18382, 4195});
  CHECK(first_tokens(*made_synthetic(50257, 1000, 2), 2) !=
        first_tokens(*made_synthetic(50257, 1000, 1), 2));
}

TEST_CASE("synthetic: every id comes up, none beyond, also above 8 and 16 bits") {
  const std::vector<int32_t> few = first_tokens(*made_synthetic(5, 1000), 200);
  CHECK(std::set<int32_t>(few.begin(), few.end()) == std::set<int32_t>{0, 1, 2, 3, 4});
  for (const int64_t vocabulary : {256, 257}) {  // the largest of 8 bits, and one more
    const std::vector<int32_t> all = first_tokens(*made_synthetic(vocabulary, 20'000), 4000);
    CHECK(*std::max_element(all.begin(), all.end()) == vocabulary - 1);
  }
  const std::vector<int32_t> many = first_tokens(*made_synthetic(1'000'000, 4000), 800);
  const auto [least, most] = std::minmax_element(many.begin(), many.end());
  CHECK(*least >= 0);
  CHECK(*most < 1'000'000);
  CHECK(*most > 900'000);
}

TEST_CASE("synthetic: sizes, description, too few tokens") {
  const std::unique_ptr<Task> task = made_synthetic(70'000, 2000);
  CHECK(task->model_sizes().front().second == 70'000);
  CHECK(task->data().training_tokens() == 1800);
  CHECK(task->description() == "2,000 tokens drawn at random out of 70,000");
  try {
    made_synthetic(10, 12);
    FAIL("12 tokens leave 2 to validate on, a window takes 5");
  } catch (const TaskError& error) {
    CHECK(error.field == "tokens");
  }
}
