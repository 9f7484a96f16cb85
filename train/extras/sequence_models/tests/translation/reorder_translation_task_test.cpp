#include "train/extras/sequence_models/reorder_translation_task.h"

#include <map>

#include "tests/support/near.h"
#include "train/extras/sequence_models/toy_german.h"
#include "train/extras/toy_tasks/tests/made/made_task_cases.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("reorder_translation: sentences of the documents are in the grammar and held out") {
  const std::vector<toy_german::Choices> printed = toy_german::sentences_of_the_documents();
  REQUIRE(printed.size() == 2);
  const toy_german::Sentence help = toy_german::sentence(printed[0]);
  CHECK(spaced(help.german) == "kannst du mir helfen diesen Satz zu übersetzen");
  CHECK(spaced(help.english) == "can you help me to translate this sentence");
  const toy_german::Sentence favor = toy_german::sentence(printed[1]);
  CHECK(spaced(favor.german) == "könntest du mir einen Gefallen tun");
  CHECK(spaced(favor.english) == "could you do me a favor");
  const auto task = made_task("reorder_translation");
  const auto& made = dynamic_cast<const MadeExamples&>(task->data());
  for (const toy_german::Choices& choices : printed) CHECK(made.is_held_out(choices));
  CHECK(prompt_error(*task, "Kannst du mir helfen, diesen Satz zu ÜBERSETZEN?") == "no error");
  CHECK(prompt_error(*task, "Kannst du mir helfen diesen Satz zu übersetze") ==
        "the word übersetze (word 8 of the text) is not in the vocabulary of 102 words, did you "
        "mean übersetzen?");
  CHECK(task->tokenizer()->decode(task->tokenizer()->encode("can YOU help")) == "can you help");
}

TEST_CASE("reorder_translation: 5 to 14 words, as many on either side, out of 60 and more") {
  CHECK(toy_german::german_words().size() >= 60);
  CHECK(toy_german::english_words().size() >= 60);
  Generator generator(4);
  std::map<size_t, int> lengths;
  std::map<std::string, std::string> translations;
  std::set<std::string> german, english;
  for (int i = 0; i < 5000; ++i) {
    const toy_german::Sentence made = toy_german::sentence(toy_german::draw(generator));
    REQUIRE(made.german.size() == made.english.size());
    lengths[made.german.size()] += 1;
    german.insert(made.german.begin(), made.german.end());
    english.insert(made.english.begin(), made.english.end());
    // Every German sentence has exactly one English translation.
    const auto [known, fresh] = translations.emplace(spaced(made.german), spaced(made.english));
    REQUIRE((fresh || known->second == spaced(made.english)));
  }
  CHECK(lengths.begin()->first == 5);
  CHECK(lengths.rbegin()->first == 14);
  CHECK(lengths.size() == 10);
  CHECK(german.size() == toy_german::german_words().size());
  CHECK(english.size() == toy_german::english_words().size());
}

TEST_CASE("reorder_translation: the verbs of a clause come last in German") {
  Generator generator(4);
  int64_t clauses = 0;
  for (int i = 0; i < 2000; ++i) {
    const toy_german::Sentence made = toy_german::sentence(toy_german::draw(generator));
    const auto reason = std::find(made.german.begin(), made.german.end(), "weil");
    if (reason == made.german.end()) continue;
    const std::set<std::string> modals{"kann",   "kannst", "können", "muss",     "musst",
                                       "müssen", "soll",   "sollst", "sollen",   "darf",
                                       "darfst", "dürfen", "könnte", "könntest", "könnten"};
    CHECK(modals.count(made.german.back()) == 1);
    ++clauses;
  }
  CHECK(clauses > 500);
}

TEST_CASE("reorder_translation: 2,000 sentences are held out, none comes up in training") {
  const auto task = made_task("reorder_translation");
  CHECK(check_held_out(*task, 2002) == 2000 + 150 * 64);
  check_streams("reorder_translation");
}
