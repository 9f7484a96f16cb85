#include <cmath>
#include <map>

#include "train/extras/sequence_models/symbol_pairs.h"
#include "train/extras/toy_tasks/tests/made/made_task_cases.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("copy: what is read is what is written, ends and padding apart") {
  const auto task = made_task("copy", four_to_sixteen);
  Generator data(3);
  const Batch batch = task->data().next(200, data);
  REQUIRE(batch.input.source_ids.shape() == Shape{200, 17});
  REQUIRE(batch.input.ids.shape() == Shape{200, 17});
  std::set<int64_t> lengths;
  for (int64_t b = 0; b < 200; ++b) {
    const auto source = row_of(batch.input.source_ids, b), ids = row_of(batch.input.ids, b);
    const auto targets = row_of(batch.targets, b);
    const auto length = std::find(source.begin(), source.end(), 32) - source.begin();  // <end>
    lengths.insert(length);
    CHECK(ids[0] == 32);  // <start>
    for (int64_t t = 0; t < 17; ++t) {
      const auto at = static_cast<size_t>(t);
      const bool kept = batch.input.source_mask.data()[b * 17 + t] != 0;
      REQUIRE(kept == (t <= length));
      REQUIRE(targets[at] == (t < length ? source[at] : t == length ? 33 : ignored_target));
      if (t < length) REQUIRE(ids[at + 1] == source[at]);
    }
  }
  CHECK(lengths.size() == 13);
  CHECK(*lengths.begin() == 4);
  CHECK(*lengths.rbegin() == 16);
}

TEST_CASE("copy: 2,000 sequences are held out, none comes up in training") {
  const auto task = made_task("copy", four_to_sixteen);
  CHECK(check_held_out(*task, 2000) == 2000 + 150 * 64);
  const auto small = made_task("copy", ConfigNode::map({{"length", 3}, {"symbols", 3}}));
  CHECK(check_held_out(*small, 2) > 0);
  check_streams("copy", four_to_sixteen);
}

TEST_CASE("copy: prompts are symbols, as many as there may be") {
  const auto task = made_task("copy", four_to_sixteen);
  CHECK(prompt_error(*task, "1 2 31 4") == "no error");
  CHECK(prompt_error(*task, "1 2 3") ==
        "expected 4 to 16 symbols, numbers from 0 to 31 with blanks between them, got 3");
  CHECK(prompt_error(*task, "1 2 3 99") ==
        "the word 99 (word 4 of the text) is not in the vocabulary of 32 words, did you mean 9?");
  CHECK(!task->continues_prompt());
}

TEST_CASE("copy: sequences of every length are left to train on, however few there are") {
  for (const int64_t symbols : {2, 10}) {
    const auto task = made_task(
        "copy", ConfigNode::map({{"length", 6}, {"min_length", 1}, {"symbols", symbols}}));
    const auto lengths = [&](const Batch& batch) {
      std::map<int64_t, std::set<std::vector<int32_t>>> found;
      for (const std::vector<int32_t>& row : asked(batch)) {
        found[std::find(row.begin(), row.end(), symbols) - row.begin()].insert(row);
      }
      return found;
    };
    Generator data(1);
    const auto trained = lengths(task->data().next(4000, data));
    const auto held_out = lengths(all_examples(*task, Split::validation));
    CHECK(trained.size() == 6);
    CHECK(trained.at(1).size() == static_cast<size_t>(symbols == 2 ? 1 : 8));
    for (const auto& [length, sequences] : held_out) {
      CHECK(static_cast<double>(sequences.size()) <=
            std::pow(static_cast<double>(symbols), static_cast<double>(length)) / 10 + 1);
    }
    check_held_out(*task, symbols == 2 ? 12 : 2000);
  }
}
