#include "train/sequences/word_by_word.h"

#include "tests/support/made_task_cases.h"
#include "tests/support/near.h"

using namespace heed;
using namespace heed::testing;

namespace {

std::string words_translated(const Task& task, const WordTable& table, const std::string& source) {
  return task.tokenizer()->decode(table.translate(task.source_tokenizer()->encode(source)));
}

}  // namespace

TEST_CASE("word by word: words are right, their order is not") {
  const auto task = made_task("reorder_translation");
  const WordTable table(*task);
  CHECK(table.pairs() == 2000);
  CHECK(words_translated(*task, table, "Könntest du mir einen Gefallen tun") ==
        "could you me a favor do");
  CHECK(words_translated(*task, table, "Kannst du mir helfen diesen Satz zu übersetzen") ==
        "can you me help this sentence to translate");
  const Score score = table.score(*task);
  CHECK(score.sequences.all == task->example_count(Split::validation));
  CHECK(score.sequences.exact == 0);  // every sentence has a verb at its end
  CHECK(score.right > score.targets / 4);
  CHECK(score.right < score.targets / 2);
  CHECK(score.by_length.begin()->first == 6);  // words and <end>
  CHECK(score.by_length.rbegin()->first == 15);
}

TEST_CASE("word by word: right where the order is that of the source") {
  const auto copy = made_task("copy", ConfigNode::map({{"length", 8}}));
  const Score same = WordTable(*copy).score(*copy);
  CHECK(same.sequences.exact == same.sequences.all);
  CHECK(same.right == same.targets);
  const auto reverse = made_task("reverse", ConfigNode::map({{"length", 8}}));
  const Score turned = WordTable(*reverse).score(*reverse);
  CHECK(turned.sequences.exact < turned.sequences.all / 10);
}

TEST_CASE("word by word: a task without a second sequence is refused") {
  CHECK(error_of([] { const WordTable table(*made_task("negation")); }) ==
        "word by word: this task has no source_ids to translate");
}
