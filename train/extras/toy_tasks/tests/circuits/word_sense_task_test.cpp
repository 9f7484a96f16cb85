#include "train/extras/toy_tasks/word_sense_task.h"

#include "train/extras/toy_tasks/grammar.h"
#include "train/extras/toy_tasks/tests/made/made_task_cases.h"

using namespace heed;
using namespace heed::testing;

namespace {

const std::set<std::string> river{"swam",    "fished", "rowed",   "waded", "sailed",
                                  "paddled", "dived",  "floated", "picnic"};
const std::set<std::string> money{"paid",  "saved",     "borrowed", "invested", "lent",
                                  "spent", "deposited", "withdrew", "account"};

}  // namespace

TEST_CASE("word_sense: the class is that of the verb in the clause of the bank") {
  const auto task = made_task("word_sense");
  const auto& sense = dynamic_cast<const WordSenseTask&>(*task);
  int64_t seen = 0, misleading = 0, alone = 0;
  for (const Split split : {Split::train, Split::validation}) {
    for (const Question& choices : questions_of(sense, split)) {
      const Sentence made = sense.config.sentence(choices);
      REQUIRE(made.words.size() <= 22);
      int32_t label = -1, other = -1;
      int32_t verb = -1;
      const std::set<std::string> places{"house",   "tower", "market", "school",
                                         "station", "hall",  "river",  "town"};
      for (size_t i = 0; i < made.words.size(); ++i) {
        const std::string& word = made.words[i];
        if (river.count(word)) verb = 0;
        if (money.count(word)) verb = 1;
        if (word == "bank") label = verb;
        const bool of_the_bank = i >= 2 && made.words[i - 2] == "of";
        if (of_the_bank) CHECK(word == (made.label == 0 ? "river" : "town"));
        if (places.count(word) == 1 && !of_the_bank) other = verb;
      }
      REQUIRE(label == made.label);
      misleading += other != -1 && other != label ? 1 : 0;
      alone += other == -1 ? 1 : 0;
      ++seen;
    }
  }
  CHECK(seen == 4000);
  CHECK(misleading > seen * 65 / 100);
  CHECK(misleading < seen * 85 / 100);
  CHECK(alone > seen * 3 / 100);
  CHECK(alone < seen * 15 / 100);
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
  if (verbs.size() == 1) return verbs[0];  // there is no other clause
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
  for (const auto& row : asked(task->data().next(5000, data))) {
    trained.insert(verbs_of(task->tokenizer()->decode(row)));
  }
  CHECK(hidden.count("swam paid") == 0);
  CHECK(hidden.count("fished borrowed") == 0);
  CHECK(hidden.size() > 40);
  CHECK(trained.size() > 150);
  for (const std::string& verbs : hidden) CHECK(trained.count(verbs) == 0);
}
