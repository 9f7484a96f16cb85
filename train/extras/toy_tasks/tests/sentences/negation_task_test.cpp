#include "train/extras/toy_tasks/negation_task.h"

#include "train/extras/toy_tasks/tests/made/made_task_cases.h"

using namespace heed;
using namespace heed::testing;

namespace {

// The label, derived independently from the words: counts the negations before the judgement,
// within its clause.
int32_t label_of(const std::vector<std::string>& words) {
  const std::set<std::string> good{"good",   "great",     "lovely",     "clever",   "charming",
                                   "superb", "brilliant", "delightful", "pleasant", "wonderful"};
  const std::set<std::string> bad{"bad",    "shabby", "poor", "dull",     "awful",
                                  "boring", "clumsy", "ugly", "dreadful", "tedious"};
  int negations = 0;
  for (const std::string& word : words) {
    if (word == "and" || word == "but" || word == "while") negations = 0;
    negations += word == "not" || word == "hardly" || word == "never" ? 1 : 0;
    if (good.count(word)) return negations % 2 == 0 ? 1 : 0;
    if (bad.count(word)) return negations % 2 == 0 ? 0 : 1;
  }
  return -1;
}

}  // namespace

TEST_CASE("negation: the class is what the judgement's own clause says") {
  const auto task = made_task("negation");
  const auto& negation = dynamic_cast<const NegationTask&>(*task);
  CHECK(task->output_size() == 2);
  int64_t positive = 0, seen = 0;
  for (const Split split : {Split::train, Split::validation}) {
    for (const Question& choices : questions_of(negation, split)) {
      const Sentence made = negation.config.sentence(choices);
      REQUIRE(made.words.size() <= 15);
      REQUIRE(label_of(made.words) == made.label);
      positive += made.label;
      ++seen;
    }
  }
  CHECK(seen == 4000);
  CHECK(positive > seen * 4 / 10);
  CHECK(positive < seen * 6 / 10);
}

TEST_CASE("negation: combinations are held out, \"not\" with \"shabby\" among them") {
  const auto task = made_task("negation");
  CHECK(check_held_out(*task, 2000) == 2000 + 150 * 64);
  check_streams("negation");
  const auto has = [&](const std::vector<int32_t>& row, const std::string& part) {
    return task->tokenizer()->decode(row).find(part) != std::string::npos;
  };
  Generator data(2);
  for (const auto& row : asked(task->data().next(5000, data))) {
    for (const char* text : {" not shabby", " not too shabby", " not very shabby"}) {
      const bool twice = has(row, "never not") || has(row, "hardly not");
      REQUIRE((twice || !has(row, text)));
    }
  }
  CHECK(prompt_error(*task, "Attention is not too shabby.") == "no error");
  CHECK(prompt_error(*task, "Attention is not to shabby.") ==
        "the word to (word 4 of the text) is not in the vocabulary of 51 words, did you mean too?");
}

TEST_CASE("negation: ids begin with the class token, padding is masked") {
  const auto task = made_task("negation");
  Generator data(2);
  const Batch batch = task->data().next(20, data);
  REQUIRE(batch.targets.shape() == Shape{20});
  REQUIRE(batch.input.ids.shape() == Shape{20, 16});
  for (int64_t b = 0; b < 20; ++b) {
    const auto ids = row_of(batch.input.ids, b);
    CHECK(task->tokenizer()->name(ids[0]) == "<class>");
    for (size_t t = 1; t < ids.size(); ++t) {
      const bool word = task->tokenizer()->name(ids[t]) != "<class>";
      REQUIRE(word == (batch.input.mask.data()[b * 16 + static_cast<int64_t>(t)] != 0));
    }
  }
}
