// The tasks pairs and labelled: what they give a model, how they split, and what a checkpoint
// keeps.
#include <algorithm>
#include <set>

#include "autograd/random/streams.h"
#include "tests/support/source_tree.h"
#include "tools/extras/checks/train/examine_task.h"
#include "tools/extras/own_data/tests/own_data_cases.h"
#include "train/evaluate.h"
#include "train/tokenizers/vocabulary.h"

using namespace heed;
using namespace heed::testing;

namespace {

std::vector<std::string> given(const Task& task, Split split) {
  std::vector<std::string> texts;
  for (int64_t i = 0; i < task.data().example_count(split); ++i) {
    texts.push_back(task.readable_examples()->input_text(split, i));
  }
  return texts;
}

}  // namespace

TEST_CASE("labelled: batches, classes and answers in words") {
  const OwnFiles files;
  files.write("a.csv", "label,text\n10,\"to be, or not\"\n9,be\n");
  const auto task = files.task("{type: labelled, path: a.csv, train_fraction: 1}");
  CHECK(task->target_name(0) == "9");  // by value
  CHECK(task->model_sizes() ==
        ModelSizes{{"vocab_size", 6}, {"num_classes", 2}, {"context_length", 6}});
  CHECK(task->output_size() == 2);
  CHECK(task->data().training_tokens() == 6);
  const Batch batch = task->data().examples(Split::train, {0, 1});
  CHECK(ids_of(batch.input.ids) == std::vector<int32_t>{5, 4, 1, 0, 3, 2, 5, 1, 5, 5, 5, 5});
  CHECK(std::vector<int>(batch.input.mask.data(), batch.input.mask.data() + 12) ==
        std::vector<int>{1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0});
  CHECK(ids_of(batch.targets) == std::vector<int32_t>{1, 0});
  CHECK(task->tokenizer()->name(5) == "<class>");
  CHECK(task->description() == "a.csv: 2 examples to train on, 0 held out by their hash, 5 words");
  using Lines = std::vector<std::pair<std::string, std::string>>;
  CHECK(task->details() == Lines{{"classes", "9 1 + 0, 10 1 + 0 (to train on + to validate with)"},
                                 {"columns", "text is text, label is label"},
                                 {"example", "\"to be, or not\" -> \"10\""},
                                 {"example", "\"be\" -> \"9\""}});
  CHECK(task->readable_examples()->location(Split::train, 1) == "a.csv:3");
  CHECK(error_of([&] { task->check_prompt("to be to be to be"); }) ==
        "expected 1 to 5 words, the longest that it was trained on, got 6");
  CHECK(error_of([&] { task->check_prompt("nott"); }) ==
        "the word nott (word 1 of the text) is not in the vocabulary of 5 words, did you mean not?"
        " (tokenizer {type: words, min_count: 2} has <unk> for such words)");
  // A short batch is not as long as the longest example.
  CHECK(task->data().examples(Split::train, {1}).input.ids.shape() == Shape{1, 6});
  const DryRun dry;
  Generator data(1);
  CHECK(task->data().next(2, data).input.ids.shape() == Shape{2, 6});
}

TEST_CASE("pairs: teacher forcing, padding, and a vocabulary for each side") {
  const OwnFiles files;
  files.write("a.tsv", "x y\tX\nz\tY Z\n");
  const auto task = files.task("{type: pairs, path: a.tsv, train_fraction: 1}");
  CHECK(task->model_sizes() == ModelSizes{{"source_vocab_size", 4},
                                          {"vocab_size", 5},
                                          {"source_length", 3},
                                          {"context_length", 3}});
  const Batch batch = task->data().examples(Split::train, {0, 1});
  CHECK(ids_of(batch.input.source_ids) == std::vector<int32_t>{0, 1, 3, 2, 3, 3});
  CHECK(ids_of(batch.input.ids) == std::vector<int32_t>{3, 0, 4, 3, 1, 2});
  CHECK(ids_of(batch.targets) == std::vector<int32_t>{0, 4, ignored_target, 1, 2, 4});
  CHECK(std::vector<int>(batch.input.source_mask.data(), batch.input.source_mask.data() + 6) ==
        std::vector<int>{1, 1, 1, 1, 1, 0});
  CHECK(task->description() ==
        "a.tsv: 2 examples to train on, 0 held out by their hash, 3 words to read, 3 to write");
}

TEST_CASE("own data: every tokenizer") {
  const OwnFiles files;
  files.write("a.tsv", pair_lines(40));
  files.write("l.tsv", labelled_lines(40));
  const std::string bpe =
      (layout::root() / "tools/extras/bpe/configs/tinyshakespeare_bpe.json").string();
  for (const std::string& tokenizer :
       {std::string("char"), std::string("byte"), std::string("words"),
        "{type: bpe, path: " + bpe + "}", std::string("{type: words, min_count: 2}")}) {
    CAPTURE(tokenizer);
    for (const std::string& data : {"pairs, path: " + (files.folder / "a.tsv").string(),
                                    "labelled, path: " + (files.folder / "l.tsv").string()}) {
      const std::string config = "{type: " + data + ", tokenizer: " + tokenizer + "}";
      const auto task = files.task(config);
      CHECK(task->tokenizer()
                ->name(static_cast<int32_t>(task->tokenizer()->vocab_size()) - 1)
                .starts_with("<"));
      if (tokenizer != "{type: words, min_count: 2}") {
        CHECK(task->readable_examples()->input_text(Split::train, 0).size() > 4);
      }
      for (const Finding& finding : examine_task(config)) {
        CHECK_MESSAGE(finding.message.empty(), finding.what, ": ", finding.message);
      }
    }
  }
}

TEST_CASE("own data: a duplicate is on one side, and a file that grows keeps its split") {
  const OwnFiles files;
  const std::string lines = labelled_lines(300);
  std::string more;
  for (int64_t i = 0; i < 1000; ++i) more += text("new ", i, i % 2 == 0 ? "\tpos\n" : "\tneg\n");
  files.write("a.tsv", lines + lines);
  files.write("grown.tsv", lines + lines + more);
  const auto task = files.task("{type: labelled, path: a.tsv, train_fraction: 0.8}");
  const auto held_out = given(*task, Split::validation), train = given(*task, Split::train);
  CHECK(held_out.size() + train.size() == 600);
  CHECK(held_out.size() > 80);
  CHECK(held_out.size() < 160);
  const std::set<std::string> here(held_out.begin(), held_out.end());
  CHECK(std::none_of(train.begin(), train.end(), [&](const auto& t) { return here.contains(t); }));
  const auto grown = files.task("{type: labelled, path: grown.tsv, train_fraction: 0.8}");
  const auto now_held_out = given(*grown, Split::validation),
             now_train = given(*grown, Split::train);
  const auto begins_with = [](const auto& all, const auto& first) {
    return all.size() > first.size() && std::equal(first.begin(), first.end(), all.begin());
  };
  CHECK(now_held_out.size() + now_train.size() == 1600);
  CHECK(begins_with(now_held_out, held_out));
  CHECK(begins_with(now_train, train));
}

TEST_CASE("own data: a file of its own to validate with, and what is in both") {
  const OwnFiles files;
  files.write("a.tsv", labelled_lines(20));
  files.write("v.tsv", "text number 1 bad\tneg\ntext number 77 bad\tneg\n");
  const auto task = files.task("{type: labelled, path: a.tsv, validation: v.tsv}");
  CHECK(task->data().example_count(Split::train) == 20);
  CHECK(task->data().example_count(Split::validation) == 2);
  CHECK(task->readable_examples()->location(Split::validation, 1) == "v.tsv:2");
  CHECK(task->warnings() ==
        std::vector<std::string>{"1 examples of v.tsv are in a.tsv too: the validation loss is "
                                 "lower than that of new examples"});
  CHECK(task->files().size() == 2);
}

TEST_CASE("own data: longer examples are left out and counted; a class without examples is told") {
  const OwnFiles files;
  files.write("a.tsv", labelled_lines(9) + "one two three four five six\trare\n");
  const auto task = files.task("{type: labelled, path: a.tsv, train_fraction: 1, max_length: 4}");
  CHECK(contains(task->description(), "; 1 longer than max_length 4 are left out"));
  CHECK(task->warnings() == std::vector<std::string>{"no example to train on has the class rare"});
}

TEST_CASE("own data: evaluation counts classes and lists the hardest examples") {
  const OwnFiles files;
  files.write("a.tsv", labelled_lines(60));
  const auto task = files.task("{type: labelled, path: a.tsv, train_fraction: 0.5}");
  manual_seed(1);
  const auto model =
      make_layer("classifier", parse_config(text("{vocab_size: ", task->model_sizes()[0].second,
                                                 ", num_classes: 2, context_length: 5, d_model: 8, "
                                                 "num_heads: 2, num_layers: 1}"),
                                            "m.yaml"));
  const Evaluation all = evaluate(*model, *task, Split::validation, 7, {});
  int64_t counted = 0, right = 0;
  REQUIRE(all.confusion.size() == 2);
  for (size_t k = 0; k < 2; ++k) {
    counted += all.confusion[k][0] + all.confusion[k][1];
    right += all.confusion[k][k];
  }
  CHECK(counted == task->data().example_count(Split::validation));
  CHECK(*all.accuracy ==
        doctest::Approx(static_cast<double>(right) / static_cast<double>(counted)));
  REQUIRE(all.hardest.size() == std::min<size_t>(20, static_cast<size_t>(counted)));
  for (size_t i = 1; i < all.hardest.size(); ++i) {
    CHECK(all.hardest[i - 1].loss >= all.hardest[i].loss);
  }
  // The loss of the worst example on its own.
  const Batch worst = task->data().examples(Split::validation, {all.hardest[0].example});
  CHECK(static_cast<double>(task->loss((*model)(worst.input), worst).sum.item()) ==
        doctest::Approx(all.hardest[0].loss).epsilon(1e-5));
  CHECK(contains(task->readable_examples()->answer(*model, Split::validation, 0), "%"));
}

TEST_CASE("own data: a vocabulary that a checkpoint has is taken, and what it lacks is listed") {
  const OwnFiles files;
  files.write("a.tsv", pair_lines(30));
  files.write("b.tsv", "a b\tb a\na é ü\tb a\n");
  for (const std::string tokenizer : {"char", "words"}) {
    const auto task = files.task("{type: pairs, path: a.tsv, tokenizer: " + tokenizer + "}");
    files.write(stored_vocabulary, task->tokenizer()->vocabulary());
    files.write(stored_source_vocabulary, task->source_tokenizer()->vocabulary());
    TaskSetup setup;
    setup.config_folder = setup.vocabulary = files.folder.path();
    const auto with = [&](const std::string& path) {
      return task_registry().make(
          "pairs", parse_config("{path: " + path + ", tokenizer: " + tokenizer + "}", "c.yaml"),
          setup);
    };
    CHECK(with("a.tsv")->model_sizes() == task->model_sizes());
    const std::string message = files.folder.cut_from(error_of([&] { with("b.tsv"); }));
    CHECK(message.starts_with(tokenizer == "char"
                                  ? "b.tsv:2: the characters é ü (the first is character 3 of the "
                                    "text) are not in the vocabulary: the model knows "
                                  : "b.tsv:2: the words é, ü (the first is word 2 of the text) are "
                                    "not in the vocabulary of "));
  }
}
