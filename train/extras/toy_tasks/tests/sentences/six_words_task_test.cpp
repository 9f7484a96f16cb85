#include "train/extras/toy_tasks/six_words_task.h"

#include "train/extras/toy_tasks/tests/made/made_task_cases.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("six_words: each word is followed by the next, the last one by the end") {
  const auto task = made_task("six_words");
  Generator data(1);
  const GeneratorState before = data.state();
  const Batch batch = task->data().next(2, data);
  CHECK(data.state() == before);
  CHECK(row_of(batch.input.ids, 1) == std::vector<int32_t>{0, 1, 2, 3, 4, 5});
  CHECK(row_of(batch.targets, 1) == std::vector<int32_t>{1, 2, 3, 4, 5, 6});
  CHECK(task->data().example_count(Split::validation) == 1);
  CHECK(task->tokenizer()->decode(row_of(batch.input.ids, 0)) ==
        "Your journey starts with one step");
  CHECK(task->continues_prompt());
  CHECK(prompt_error(*task, "your Journey") == "no error");
  CHECK(prompt_error(*task, "") == "expected 1 to 6 words, got 0");
  CHECK(prompt_error(*task, "your jurney") ==
        "the word jurney (word 2 of the text) is not in the vocabulary of 6 words, did you mean "
        "journey?");
}
