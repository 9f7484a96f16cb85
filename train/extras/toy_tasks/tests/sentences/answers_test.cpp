// What models of sentences answer.
#include "tests/support/answer_cases.h"
#include "train/evaluate.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("answers: six words go on to the end of their sentence") {
  const Stepping run = trained(
      "data: {type: six_words}\n"
      "model: {type: gpt, d_model: 8, num_heads: 1, num_layers: 1}\n" +
      adamw + "train: {steps: 150, batch_size: 1}\n");
  CHECK(ask(run, "Your journey").text == " starts with one step");
  CHECK(ask(run, "your journey starts with one step").text == "");
  const Answer prompt = run.loaded.task->answer(*run.model, "Your journey", {.tokens = 0});
  CHECK(prompt.text.empty());
  CHECK(prompt.shown.ids.size() == 2);
  CHECK(evaluate(*run.model, *run.loaded.task, Split::validation, 1, {}).exact_match == 1);
}

TEST_CASE("answers: a class comes with its probability") {
  const Stepping classes = trained(
      "data: {type: negation}\n"
      "model: {type: classifier, d_model: 8, num_layers: 1}\n" +
      adamw + "train: {steps: 1, batch_size: 4}\n");
  const std::string said = ask(classes, "attention is not too shabby").text;
  CHECK((said.starts_with("positive ") || said.starts_with("negative ")));
  CHECK(said.ends_with("%"));
  const double percent = std::stod(said.substr(9));
  CHECK(percent >= 50);
  CHECK(percent <= 100);
  CHECK(evaluate(*classes.model, *classes.loaded.task, Split::validation, 64, {}).tokens == 2000);
}
