// All mistakes at once: those of the text, of --set, of plugins, of fields, and of the rules
// between sections, as far as the sections that a rule needs were read without a mistake.
#include "train/config/checks_between_sections.h"

#include <doctest/doctest.h>

#include "tests/support/config_lines.h"

using namespace heed;
using namespace heed::testing;

namespace {

const std::string needs_loss = "needs a validation loss on the way; give eval.every too";

}  // namespace

TEST_CASE(
    "checks between sections: duplicate keys and wrong --set do not hide the mistakes of fields") {
  CHECK(
      lines_of("seed: 5\nseed: 6\n" + sections, {"model.d_modle=4", "train.stepz=3", "nothing",
                                                 "optimizer.lr=[1", "eval.every=&a 3", "seed=x"}) ==
      "c.yaml:2:1: seed: this key is given twice, on line 1 and on line 2; remove one\n"
      "--set nothing:1:1: expected KEY=VALUE, such as train.steps=100; there is no =\n"
      "--set optimizer.lr=[1:1:14: the bracket [ is not closed\n"
      "--set eval.every=&a 3:1:12: anchors (&name) are not allowed\n"
      "--set seed=x:1:6: seed: expected a whole number of at least 0, got x\n"
      "--set train.stepz=3:1:7: train.stepz: unknown key, did you mean steps?\n"
      "--set model.d_modle=4:1:7: model.d_modle: unknown key, did you mean d_model?");
}

TEST_CASE(
    "checks between sections: a broken rule between sections is reported with everything else") {
  const std::string wrong_optimizer = "optimizer: {type: sgd, lr: 1, nesterov: true}\n";
  const std::string lines =
      lines_of(sections + wrong_optimizer +
               "eval: {patience: 2}\ncheckpoint: {best: true}\nsample: {prompt: Zoo}\n");
  for (const std::string& line :
       {std::string("optimizer.nesterov: "), "eval.patience: " + needs_loss,
        "checkpoint.best: " + needs_loss, std::string("sample.prompt: the character Z")}) {
    CHECK_MESSAGE(contains(lines, line), lines);
  }
  CHECK(std::count(lines.begin(), lines.end(), '\n') == 3);
}

TEST_CASE("checks between sections: a missing file hides nothing") {
  const std::string lines = lines_of("seeed: 1\n" + sections, {"data.path=\"a\\0b.txt\""});
  CAPTURE(lines);
  CHECK(contains(lines, "c.yaml:1:1: seeed: unknown key, did you mean seed?"));
  CHECK(contains(lines, "data.path=\"a\\0b.txt\":1:11: data.path: "));
  CHECK(contains(lines, "a\\x00b.txt: cannot open: a path has no NUL character"));
}

TEST_CASE("checks between sections: an empty name of a file is none") {
  CHECK(lines_of(sections, {"data.path=\"\""}) ==
        "--set data.path=\"\":1:11: data.path: expected a text file, got nothing");
}

TEST_CASE("checks between sections: none about a section that was not read") {
  CHECK(lines_of(sections + "eval: {evry: 5}\ncheckpoint: {best: true}\n") ==
        "c.yaml:4:8: eval.evry: unknown key, did you mean every?");
  CHECK(lines_of(sections + "eval: {every: 5}\ncheckpoint: {best: 1}\nsample: {prompt: [a]}\n") ==
        "c.yaml:5:20: checkpoint.best: expected true or false, got 1; write true\n"
        "c.yaml:6:18: sample.prompt: expected text, got a list");
  // The prompt needs the data, patience does not.
  CHECK(lines_of(sections + "eval: {patience: 2}\nsample: {prompt: Zoo}\n",
                 {"data.train_fraction=9"}) ==
        "c.yaml:4:18: eval.patience: " + needs_loss +
            "\n--set data.train_fraction=9:1:21: data.train_fraction: expected a number above 0 up "
            "to 1, got 9");
}

TEST_CASE("checks between sections: a config in the words of the book, one line for each") {
  CHECK(lines_of("data: {type: text, path: text.txt}\n"
                 "model: {type: gpt, context_length: 8, emb_dim: 12, n_heads: 3, n_layers: 1}\n"
                 "max_iters: 12\n"
                 "train: {per_device_train_batch_size: 4, epochs: 1}\n") ==
        "c.yaml:2:39: model.emb_dim: here it is d_model\n"
        "c.yaml:2:52: model.n_heads: here it is num_heads\n"
        "c.yaml:2:64: model.n_layers: here it is num_layers\n"
        "c.yaml:3:1: max_iters: here it is train.steps\n"
        "c.yaml:4:9: train.per_device_train_batch_size: here it is batch_size\n"
        "c.yaml:4:41: train.epochs: here it is steps: epochs * training examples / (batch_size * "
        "accumulate)");
}

TEST_CASE("checks between sections: the options of an unknown type count once it is known") {
  CHECK(lines_of(sections + "optimizer: {type: adamm, lr: -1, weigth_decay: 0}\n") ==
        "c.yaml:4:19: optimizer.type: unknown optimizer adamm, did you mean adamw?");
  CHECK(lines_of(sections + "optimizer: {type: zzz, lr: -1, learning_rate: 1}\n") ==
        "c.yaml:4:19: optimizer.type: unknown optimizer zzz; there are adam, adamw, sgd");
  CHECK(lines_of(sections, {"model.attention={type: multi_head_atention, dropuot: 0}"}) ==
        "--set model.attention={type: multi_head_atention, dropuot: 0}:1:24: model.attention.type: "
        "unknown layer multi_head_atention, did you mean multi_head_attention?");
}

TEST_CASE(
    "checks between sections: eval.every: none turns evaluation off, with all that belongs to it") {
  const std::string evaluated =
      sections + "eval: {every: 5, batches: 2, patience: 3}\ncheckpoint: {best: true}\n";
  CHECK(lines_of(evaluated, {"eval.every=none"}) == "no error");
  CHECK(contains(lines_of(evaluated, {"eval={batches: 2}"}), "eval.batches: 2 without eval.every"));
}

TEST_CASE("checks between sections: a --set without a value gives no path") {
  CHECK(lines_of(sections, {"data.path="}) ==
        "--set data.path=:1:11: data.path: missing value, expected text");
}

TEST_CASE("checks between sections: an alias is one mistake") {
  CHECK(lines_of(sections + "seed: &n 5\neval: {every: *n, batches: *n}\nsample: *n\n") ==
        "c.yaml:4:7: seed: anchors (&name) are not allowed\n"
        "c.yaml:5:15: eval.every: aliases (*name) are not allowed; write the value out\n"
        "c.yaml:5:28: eval.batches: aliases (*name) are not allowed; write the value out\n"
        "c.yaml:6:9: sample: aliases (*name) are not allowed; write the value out");
}

TEST_CASE("checks between sections: shards divide accumulate") {
  const std::string lines = lines_of(sections, {"train.accumulate=6", "train.shards=4"});
  CHECK(lines ==
        "--set train.shards=4:1:14: train.shards: must divide accumulate: accumulate is 6, shards "
        "is 4");
  CHECK(lines_of(sections, {"train.accumulate=6", "train.shards=3"}) == "no error");
  CHECK(lines_of(sections, {"train.accumulate=2", "train.shards=2",
                            "train.shard_optimizer=true"}) == "no error");
  CHECK(lines_of(sections, {"train.shard_optimizer=true"}) ==
        "--set train.shard_optimizer=true:1:23: train.shard_optimizer: has no effect with shards "
        "1, with which a run has a single process; give shards too, or leave it out");
  CHECK(contains(lines_of(sections, {"train.shards=0"}), "train.shards: expected a whole number"));
}
