#include "train/tasks/word_sense_task.h"

#include "tests/support/made_task_cases.h"

using namespace heed;
using namespace heed::testing;

namespace {

const std::set<std::string> river{"swam",   "fished",  "rowed", "waded",
                                  "sailed", "paddled", "dived", "floated"};
const std::set<std::string> money{"paid", "saved", "borrowed",  "invested",
                                  "lent", "spent", "deposited", "withdrew"};

}  // namespace

TEST_CASE("word_sense: the class is that of the verb in the clause of the bank") {
  const auto task = made_task("word_sense");
  const auto& sense = dynamic_cast<const WordSenseTask&>(*task);
  int64_t seen = 0, misleading = 0;
  for (const Split split : {Split::train, Split::validation}) {
    for (const MadeTask::Question& choices : sense.questions(split)) {
      const SentenceTask::Sentence made = sense.sentence(choices);
      REQUIRE(made.words.size() <= 15);
      int32_t label = -1, other = -1;
      int32_t verb = -1;
      for (const std::string& word : made.words) {
        if (river.count(word)) verb = 0;
        if (money.count(word)) verb = 1;
        if (word == "bank") label = verb;
        if (word == "house" || word == "tower" || word == "market" || word == "school" ||
            word == "station" || word == "hall") {
          other = verb;
        }
      }
      REQUIRE(label == made.label);
      misleading += other != label ? 1 : 0;
      ++seen;
    }
  }
  CHECK(seen == 4000);
  CHECK(misleading > seen * 65 / 100);
  CHECK(misleading < seen * 85 / 100);
}

namespace {

// The verbs of the bank's clause and of the other clause, taken from the words.
std::string verbs_of(const std::string& text) {
  std::vector<std::string> words, verbs;
  append_words(words, text);
  bool bank_in_first = false;
  for (const std::string& word : words) {
    bank_in_first = bank_in_first || (word == "bank" && verbs.size() == 1);
    if (river.count(word) + money.count(word) > 0) verbs.push_back(word);
  }
  REQUIRE(verbs.size() == 2);
  return bank_in_first ? verbs[0] + " " + verbs[1] : verbs[1] + " " + verbs[0];
}

}  // namespace

TEST_CASE("word_sense: combinations of verbs are held out") {
  const auto task = made_task("word_sense");
  CHECK(check_held_out(*task, 2000) == 2000 + 150 * 64);
  check_streams("word_sense");
  std::set<std::string> hidden, trained;
  for (const auto& row : asked(all_examples(*task, Split::validation))) {
    hidden.insert(verbs_of(task->tokenizer()->decode(row)));
  }
  Generator data(2);
  for (const auto& row : asked(task->next(5000, data))) {
    trained.insert(verbs_of(task->tokenizer()->decode(row)));
  }
  CHECK(hidden.count("swam paid") == 1);
  CHECK(hidden.size() > 40);
  CHECK(trained.size() > 150);
  for (const std::string& verbs : hidden) CHECK(trained.count(verbs) == 0);
}
