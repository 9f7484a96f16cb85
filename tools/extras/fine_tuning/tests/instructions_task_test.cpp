// The task instructions: templates, batches, losses, and scores by hand.
#include "tools/extras/fine_tuning/train/instructions_task.h"

#include <cmath>

#include "tests/support/source_tree.h"
#include "tools/extras/checks/train/testing.h"
#include "tools/extras/own_data/tests/own_data_cases.h"
#include "train/evaluate.h"

using namespace heed;
using namespace heed::testing;

namespace {

// Two rows; of characters, the ids are: > 0, a 1, b 2, c 3, <end> 4.
struct TwoRows {
  TwoRows() {
    files.write("a.jsonl",
                "{\"instruction\": \"ab\", \"input\": \"c\", \"output\": \"ba\"}\n\n"
                "{\"instruction\": \"b\", \"output\": \"b\"}\n");
  }
  std::unique_ptr<Task> task(const std::string& more = "") const {
    return files.task(text("{type: instructions, path: a.jsonl, tokenizer: char, train_fraction: 1",
                           ", template: \"{instruction}{input}>\"", more, "}"));
  }
  OwnFiles files;
};

// Finds the token with this logit alone likeliest at each place, whatever it reads.
class Fixed final : public Module {
 public:
  Fixed(int32_t likely, int64_t tokens) : likely_(likely), tokens_(tokens) {}

 protected:
  Tensor forward(const Input& in) override {
    Array logits = Array::zeros({in.ids.dim(0), in.ids.dim(1), tokens_});
    for (int64_t i = 0; i < in.ids.size(); ++i) {
      logits.mutable_data()[i * tokens_ + likely_] = 1;
    }
    return logits;
  }

 private:
  const int32_t likely_;
  const int64_t tokens_;
};

}  // namespace

TEST_CASE("instructions: the templates of the book") {
  const Instruction with{"Rewrite it.", "He eat."}, without{"Say hello.", ""};
  const PromptTemplate alpaca("alpaca"), phi3("phi3");
  CHECK(alpaca.fill(with) ==
        "Below is an instruction that describes a task. Write a response that appropriately "
        "completes the request.\n\n### Instruction:\nRewrite it.\n\n### Input:\nHe eat.\n\n### "
        "Response:\n");
  CHECK(alpaca.fill(without) ==
        "Below is an instruction that describes a task. Write a response that appropriately "
        "completes the request.\n\n### Instruction:\nSay hello.\n\n### Response:\n");
  CHECK(phi3.fill(with) == "<|user|>\nRewrite it.\nHe eat.\n<|assistant|>\n");
  CHECK(phi3.fill(without) == "<|user|>\nSay hello.\n<|assistant|>\n");
  const PromptTemplate one("{{{instruction}}}: {input}\n"),
      two("{instruction} {input}", "{instruction}?");
  CHECK(one.fill(with) == "{Rewrite it.}: He eat.\n");
  CHECK(one.fill(without) == "{Say hello.}: \n");
  CHECK(two.fill(with) == "Rewrite it. He eat.");
  CHECK(two.fill(without) == "Say hello.?");
  // What a row has is taken as it is.
  CHECK(one.fill({"{input}", "}"}) == "{{input}}: }\n");
}

TEST_CASE("instructions: batches are padded, and only the answer and its end are targets") {
  const TwoRows rows;
  const auto task = rows.task();
  CHECK(task->model_sizes() == ModelSizes{{"vocab_size", 5}, {"context_length", 6}});
  CHECK(task->data().training_tokens() == 7 + 4);
  const Batch batch = task->data().examples(Split::train, {0, 1});
  CHECK(ids_of(batch.input.ids) == std::vector<int32_t>{1, 2, 3, 0, 2, 1, 2, 0, 2, 4, 4, 4});
  CHECK(std::vector<int>(batch.input.mask.data(), batch.input.mask.data() + 12) ==
        std::vector<int>{1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0});
  const int32_t none = ignored_target;
  CHECK(ids_of(batch.targets) ==
        std::vector<int32_t>{none, none, none, 2, 1, 4, none, 2, 4, none, none, none});
  CHECK(task->tokenizer()->name(4) == "<end>");
  CHECK(task->description() ==
        "a.jsonl: 2 examples to train on, 0 held out by their hash, 4 characters");
  using Lines = std::vector<std::pair<std::string, std::string>>;
  CHECK(task->details() == Lines{{"answers", "up to 2 characters and <end>; loss on them alone"},
                                 {"example", "\"abc\" -> \"ba\""},
                                 {"example", "\"b\" -> \"b\""}});
  CHECK(task->readable_examples()->location(Split::train, 1) == "a.jsonl:3");
  CHECK(rows.task(", max_length: 9")->model_size("context_length") == 9);
  CHECK(rows.task(", max_length: 5")->data().example_count(Split::train) == 1);
}

TEST_CASE("instructions: the loss is on the answers, or on all but the first token") {
  const TwoRows rows;
  Fixed model(2, 5);
  const double sum = 4 + std::exp(1), right = std::log(sum) - 1, wrong = std::log(sum);
  for (const bool all : {false, true}) {
    const auto task = rows.task(all ? ", loss_on: all" : "");
    const Batch batch = task->data().examples(Split::train, {0, 1});
    const BatchLoss loss = task->loss(model(batch.input), batch);
    // Answers b a <end>, b <end>; of the instructions b c >, >
    CHECK(loss.counted == (all ? 9 : 5));
    const double want = 2 * right + 3 * wrong + (all ? right + 3 * wrong : 0);
    CHECK(static_cast<double>(loss.sum.item()) == doctest::Approx(want));
    CHECK(ids_of(batch.targets)[0] == ignored_target);  // the batch is as it was
    const Evaluation found = evaluate(model, *task, Split::train, 2, {});
    CHECK(found.loss == doctest::Approx(want / (all ? 9 : 5)));
    CHECK(*found.accuracy == doctest::Approx(2.0 / 5));
    CHECK(*found.exact_match == 0);
  }
  // The end alone is right: no answer is.
  Fixed ends(4, 5);
  const Evaluation found = evaluate(ends, *rows.task(), Split::train, 2, {});
  CHECK(*found.accuracy == doctest::Approx(2.0 / 5));
}

TEST_CASE("instructions: answers end at the end token") {
  const TwoRows rows;
  const auto task = rows.task();
  std::string said;
  const AnswerOptions options{.tokens = 3,
                              .sampling = {.temperature = 0},
                              .context_length = 6,
                              .each = [&](const std::string& part) { said += part; }};
  Fixed talks(2, 5), ends(4, 5);
  CHECK(task->answer(talks, "ab", options).text == "bbb");
  CHECK(said == "bbb");
  CHECK(task->answer(ends, "ab", options).text == "");
  CHECK(said == "bbb");
  CHECK(
      ids_of(task->answer(ends, "{\"instruction\": \"a\", \"input\": \"c\"}", options).shown.ids) ==
      std::vector<int32_t>{1, 3, 0});
  CHECK(task->readable_examples()->answer(talks, Split::train, 0) == "bbb");
  CHECK(error_of([&] { task->check_prompt(""); }) == "expected text as instruction, got nothing");
  CHECK(error_of([&] { task->check_prompt("abcabc"); }) ==
        "expected at most 6 characters in the template, got 7");
  CHECK(error_of([&] { task->check_prompt("{\"instrction\": \"a\"}"); }) ==
        "a prompt that begins with {\" is a row: expected the key instruction, got instrction; did "
        "you mean instrction?");
  CHECK(error_of([&] { task->check_prompt("{\"instruction\": \"a\", \"contxt\": \"b\"}"); }) ==
        "a prompt that begins with {\" is a row: expected the keys instruction and input, got "
        "contxt");
  task->check_prompt("{\"instruction\": \"a\", \"input\": \"c\", \"output\": \"b\"}");
}

TEST_CASE("instructions: what is wrong in a question is counted in the question") {
  const TwoRows rows;
  const auto task = rows.files.task(
      "{type: instructions, path: a.jsonl, tokenizer: char, train_fraction: 1, template: "
      "\"abc{instruction}{input}>\"}");
  CHECK(contains(error_of([&] { task->check_prompt("ax"); }), "character x (character 2 of"));
  CHECK(
      contains(error_of([&] { task->check_prompt("{\"instruction\": \"ab\", \"input\": \"x\"}"); }),
               "character x (character 1 of"));
}

TEST_CASE("instructions: the end token is one of the vocabulary where it has one") {
  const TwoRows rows;
  const auto own = rows.task(", end_token: \">\"");
  CHECK(own->model_size("vocab_size") == 4);
  CHECK(ids_of(own->data().examples(Split::train, {1}).targets)[2] == 0);
  const std::string bpe =
      (layout::root() / "tools/extras/bpe/configs/tinyshakespeare_bpe.json").string();
  const auto merged = rows.files.task(
      "{type: instructions, path: a.jsonl, tokenizer: {type: bpe, path: " + bpe + "}}");
  const auto* const task = dynamic_cast<const InstructionsTask*>(merged.get());
  REQUIRE(task != nullptr);
  CHECK(contains(task->tokenizer()->name(*task->end_token()), "end"));
}

TEST_CASE("instructions: the examiner has nothing to say") {
  const TwoRows rows;
  rows.files.write("more.json", [] {
    std::string all = "[";
    for (int i = 0; i < 12; ++i) {
      all += text(i > 0 ? "," : "", "{\"instruction\": \"say ", i, "\", \"output\": \"", i * i,
                  " it is\"}");
    }
    return all + "]";
  }());
  const std::string path = (rows.files.folder / "more.json").string();
  for (const char* more : {"", ", template: phi3", ", loss_on: all", ", tokenizer: byte",
                           ", tokenizer: char, max_length: 200"}) {
    check_task("{type: instructions, path: " + path + more + "}");
  }
}
