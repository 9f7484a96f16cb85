// The task lines: what it gives a model, how a document ends, and what a file may look like.
#include <cmath>
#include <set>

#include "autograd/random/streams.h"
#include "layers/module/added_losses.h"
#include "tests/support/layer_cases.h"
#include "tools/extras/checks/train/examine_task.h"
#include "tools/extras/checks/train/leak.h"
#include "tools/extras/own_data/tests/own_data_cases.h"
#include "train/evaluate.h"

using namespace heed;
using namespace heed::testing;

namespace {

// A model that writes given tokens, one after another, whatever it reads.
class Writer final : public Module {
 public:
  Writer(std::vector<int32_t> tokens, int64_t vocab_size)
      : tokens_(std::move(tokens)), vocab_size_(vocab_size) {}
  std::vector<int32_t> read;  // by the first call

 protected:
  Tensor forward(const Input& in) override {
    if (read.empty()) read = ids_of(in.ids);
    Array logits = Array::zeros({1, in.ids.dim(1), vocab_size_});
    const auto next = tokens_[std::min(at_++, tokens_.size() - 1)];
    logits.mutable_data()[(in.ids.dim(1) - 1) * vocab_size_ + next] = 50;
    return logits;
  }

 private:
  const std::vector<int32_t> tokens_;
  const int64_t vocab_size_;
  size_t at_ = 0;
};

std::string said_by(const Task& task, Writer& writer, const std::string& prompt,
                    int64_t tokens = 10) {
  std::string said;
  AnswerOptions options{.tokens = tokens, .context_length = 8};
  options.each = [&](const std::string& piece) { said += piece; };
  const Answer answer = task.answer(writer, prompt, options);
  CHECK(answer.text == said);
  return said;
}

}  // namespace

TEST_CASE("lines: a document between its marks, and padding that has no target") {
  const OwnFiles files;
  files.write("a.txt", "ab\nb\n");
  const auto task = files.task("{type: lines, path: a.txt, train_fraction: 1}");
  CHECK(task->model_sizes() == ModelSizes{{"vocab_size", 4}, {"context_length", 3}});
  const Batch batch = task->data().examples(Split::train, {0, 1});
  CHECK(ids_of(batch.input.ids) == std::vector<int32_t>{2, 0, 1, 2, 1, 3});
  CHECK(ids_of(batch.targets) == std::vector<int32_t>{0, 1, 3, 1, 3, ignored_target});
  CHECK(task->data().training_tokens() == 5);
  CHECK(task->tokenizer()->name(2) == "<start>");
  CHECK(task->tokenizer()->name(3) == "<end>");
  CHECK(task->description() ==
        "a.txt: 2 examples to train on, 0 held out by their hash, 2 characters");
  using Lines = std::vector<std::pair<std::string, std::string>>;
  CHECK(task->details() == Lines{{"document", "\"ab\""}, {"document", "\"b\""}});
  CHECK(task->readable_examples()->location(Split::train, 1) == "a.txt:2");
  CHECK(task->readable_examples()->input_text(Split::train, 0) == "a");
  CHECK(task->readable_examples()->target_text(Split::train, 0) == "b");
}

TEST_CASE("lines: a mask hides what is padding") {
  const OwnFiles files;
  files.write("a.txt", "ab\nbabbababbababbababbabab\n");
  const std::string config =
      "{type: lines, path: " + (files.folder / "a.txt").string() + ", train_fraction: 1}";
  const auto task = files.task(config);
  const Batch batch = task->data().examples(Split::train, {0, 1});
  const Mask& mask = batch.input.mask;
  REQUIRE(mask.shape() == batch.input.ids.shape());
  for (int64_t i = 0; i < mask.size(); ++i) {
    CHECK((mask.data()[i] != 0) == (batch.targets.data()[i] != ignored_target));
  }
  for (const Finding& finding : examine_task(config)) CHECK(finding.message == "");
  // The loss that a mixture of experts adds does not count it, whatever it is.
  const auto model = layer_of(
      "{type: gpt, vocab_size: 4, context_length: 25, d_model: 8, num_heads: 2, num_layers: 1, "
      "feed_forward: {type: mixture_of_experts, num_experts: 4, load_balancing: 1}}");
  const auto balance = [&](const Input& in) {
    const AddedLosses added;
    (void)(*model)(in);
    return added.by_name.at("load_balancing").item();
  };
  Input other = batch.input;
  other.ids = other.ids.clone();
  for (int64_t i = 0; i < mask.size(); ++i)
    other.ids.mutable_data()[i] -= mask.data()[i] != 0 ? 0 : 1;
  CHECK(balance(other) == balance(batch.input));
  other.mask = {};
  CHECK(balance(other) != balance(batch.input));
}

// The first document alone is padded to fewer tokens than with the second one.
TEST_CASE(
    "lines: a model that sees the tokens it has to predict is found, after a short document") {
  const OwnFiles files;
  files.write("a.txt", "abbabab\n" + std::string(39, 'a') + "b\n");
  const auto task = files.task("{type: lines, path: a.txt, train_fraction: 1}");
  for (const bool causal : {true, false}) {
    manual_seed(3);
    const auto model = make_layer(
        "gpt", parse_config(text("{vocab_size: 4, context_length: 41, d_model: 8, num_heads: 2, ",
                                 "num_layers: 1, attention: {type: multi_head_attention, causal: ",
                                 causal ? "true" : "false", "}}"),
                            "model.yaml"));
    CHECK(sees_next_tokens(*model, task->data()) == !causal);
  }
}

TEST_CASE("lines: an answer begins with <start> and ends before <end>") {
  const OwnFiles files;
  files.write("a.txt", "anna\nbo\n");  // a b n o <start> <end>
  const auto task = files.task("{type: lines, path: a.txt, train_fraction: 1}");
  Writer name({2, 2, 0, 5, 1}, 6);
  CHECK(said_by(*task, name, "a") == "nna");
  CHECK(name.read == std::vector<int32_t>{4, 0});
  Writer nothing({5}, 6);
  CHECK(said_by(*task, nothing, "") == "");
  CHECK(nothing.read == std::vector<int32_t>{4});
  Writer endless({0, 4, 1}, 6);
  CHECK(said_by(*task, endless, "", 4) == "abb");  // a <start> in it is no text
  CHECK(task->continues_prompt());
  task->check_prompt("");
  CHECK(contains(error_of([&] { task->check_prompt("\n"); }), "an empty prompt, \"\", begins a"));
  CHECK(error_of([&] { task->check_prompt("z"); }).find("empty") == std::string::npos);
  Writer half({3, 5}, 6);
  CHECK(task->readable_examples()->answer(half, Split::train, 1) == "o");
  CHECK(half.read == std::vector<int32_t>{4, 1});
}

TEST_CASE("lines: a document has the same loss alone and padded") {
  const OwnFiles files;
  files.write("a.txt", "a\nabcabcabcabcabcabc\nbca\n");
  const auto task = files.task("{type: lines, path: a.txt, train_fraction: 1}");
  manual_seed(1);
  const auto model =
      make_layer("gpt", ConfigNode::map({{"vocab_size", 5},
                                         {"context_length", task->model_size("context_length")},
                                         {"d_model", 8},
                                         {"num_heads", 2},
                                         {"num_layers", 2}}));
  model->train(false);
  const auto loss = [&](const std::vector<int64_t>& which) {
    const Batch batch = task->data().examples(Split::train, which);
    return task->loss((*model)(batch.input), batch);
  };
  const BatchLoss all = loss({0, 1, 2});
  double sum = 0;
  for (const int64_t i : {0, 1, 2}) sum += static_cast<double>(loss({i}).sum.item());
  CHECK(all.counted == 2 + 19 + 4);
  CHECK(std::abs(static_cast<double>(all.sum.item()) - sum) < 1e-4);
  const Evaluation evaluation = evaluate(*model, *task, Split::train, 2, {});
  CHECK(evaluation.tokens == 25);
  CHECK(evaluation.hardest.size() == 3);
  REQUIRE(evaluation.bits_per_byte);
  CHECK(std::abs(*evaluation.bits_per_byte - evaluation.loss * 25 / 22 / std::log(2.0)) < 1e-9);
}

TEST_CASE("lines: what a file may look like") {
  CHECK(check_broken("documents.txt", [](const BrokenFile& file) {
          const OwnFiles files;
          files.write(file.setting.substr(0, file.setting.find(',')), file.content);
          const auto task =
              files.task("{type: lines, train_fraction: 1, path: " + file.setting + "}");
          std::string documents;
          for (int64_t i = 0; i < task->data().example_count(Split::train); ++i) {
            const Batch one = task->data().examples(Split::train, {i});
            documents += "[" + task->tokenizer()->decode(one.input.ids.span()) + "]";
          }
          return documents;
        }) == 11);
}

TEST_CASE("lines: longer documents are left out and counted, and max_length is room for weights") {
  const OwnFiles files;
  files.write("a.txt", "short\nalso ok\nmuch too long\n");
  const auto task = files.task("{type: lines, path: a.txt, train_fraction: 1, max_length: 9}");
  CHECK(contains(task->description(), "; 1 longer than max_length 9 are left out"));
  CHECK(task->model_size("context_length") == 10);
  CHECK(task->data().examples(Split::train, {0, 1}).input.ids.dim(1) == 8);
  CHECK(contains(files.loaded("{type: lines, path: a.txt, train_fraction: 1}",
                              "{type: gpt, context_length: 8, d_model: 8, num_heads: 2, "
                              "num_layers: 1}"),
                 "model.context_length: expected at least 14, as the data has it, or nothing; "
                 "got 8"));
  CHECK(files.loaded("{type: lines, path: a.txt, train_fraction: 1}",
                     "{type: gpt, context_length: 20, d_model: 8, num_heads: 2, num_layers: 1}") ==
        "");
}

TEST_CASE("lines: a mark of the vocabulary before and after each document") {
  const OwnFiles files;
  files.write("a.txt", "ab\nb\n");
  const auto task =
      files.task("{type: lines, path: a.txt, train_fraction: 1, tokenizer: byte, mark: \"\\n\"}");
  CHECK(task->model_size("vocab_size") == 256);
  const Batch batch = task->data().examples(Split::train, {0, 1});
  CHECK(ids_of(batch.input.ids) == std::vector<int32_t>{10, 'a', 'b', 10, 'b', 10});
  CHECK(ids_of(batch.targets) == std::vector<int32_t>{'a', 'b', 10, 'b', 10, ignored_target});
  Writer writer({'b', 10}, 256);
  CHECK(said_by(*task, writer, "a") == "b");
}

TEST_CASE("lines: a duplicate is on one side, and a file of its own validates") {
  const OwnFiles files;
  std::string lines;
  for (int i = 0; i < 200; ++i) lines += text("name", i, "\n");
  files.write("a.txt", lines + lines);
  files.write("v.txt", "name 7x\nname3\n");
  const auto task = files.task("{type: lines, path: a.txt, train_fraction: 0.8}");
  std::set<std::string> train;
  const auto document = [&](Split split, int64_t i) {
    return task->readable_examples()->input_text(split, i) +
           task->readable_examples()->target_text(split, i);
  };
  for (int64_t i = 0; i < task->data().example_count(Split::train); ++i) {
    train.insert(document(Split::train, i));
  }
  CHECK(2 * std::ssize(train) == task->data().example_count(Split::train));
  CHECK(task->data().example_count(Split::validation) > 40);
  for (int64_t i = 0; i < task->data().example_count(Split::validation); ++i) {
    CHECK(!train.contains(document(Split::validation, i)));
  }
  files.write("v.txt", "name7\nnames\n");
  const auto other = files.task("{type: lines, path: a.txt, validation: v.txt}");
  CHECK(other->data().example_count(Split::train) == 400);
  CHECK(other->warnings().size() == 1);
}

TEST_CASE("lines: passes the examination with every tokenizer") {
  const OwnFiles files;
  std::string lines, objects;
  for (int i = 0; i < 40; ++i) {
    lines += text("name ", i % 7, "é", i, "\n");
    objects += text("{\"joke\": \"knock ", i, "\\nwho\"}\n");
  }
  files.write("a.txt", lines);
  files.write("a.jsonl", objects);
  for (const std::string tokenizer : {"char", "byte", "words", "{type: words, min_count: 2}"}) {
    for (const std::string data : {"a.txt\"", "a.jsonl\", text: joke"}) {
      const std::string config = "{type: lines, path: \"" + (files.folder / "").string() + data +
                                 ", tokenizer: " + tokenizer + "}";
      CAPTURE(config);
      for (const Finding& finding : examine_task(config)) {
        CHECK_MESSAGE(finding.message.empty(), finding.what, ": ", finding.message);
      }
    }
  }
}
