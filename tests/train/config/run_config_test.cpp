#include "train/config/run_config.h"

#include <set>

#include "autograd/base/modes.h"
#include "autograd/random/streams.h"
#include "tests/support/near.h"
#include "tests/support/training_run.h"
#include "train/files/files.h"

using namespace heed;
using namespace heed::testing;
namespace fs = std::filesystem;

namespace {

// The error messages for the small config with these changes, without the folder's name.
std::string message_of(const TempDir& folder, const std::vector<std::string>& sets) {
  std::string message = "no error";
  try {
    load_small(folder, sets);
  } catch (const Error& error) {
    message = error.what();
  }
  const std::string path = folder.path().string() + "/";
  for (size_t at; (at = message.find(path)) != std::string::npos;) message.erase(at, path.size());
  return message;
}

std::string value(const ConfigNode& tree, const char* section, const char* key) {
  const ConfigNode& node = tree.get(section).get(key);
  return node.is_list() ? "list" : node.text();
}

double base_lr(const LoadedRun& run) {
  return optimizer_registry().make(run.config.optimizer, {})->base_lr();
}

// An optimizer whose rate has another name than lr.
class RateOptimizer final : public Optimizer {
 public:
  static constexpr const char* help = "an optimizer with another name for its rate";
  struct Config {
    double step_size = 0.5;
    void fields(Fields& f) { f.optional("step_size", step_size, at_least(0), "rate"); }
  };
  RateOptimizer(const Config& c, std::vector<NamedParameter> parameters)
      : Optimizer(std::move(parameters), c.step_size) {}
  std::vector<std::pair<std::string, std::vector<Array>*>> state() override { return {}; }

 protected:
  void update(size_t, Tensor&, const Array&, double, double) override {}
};

}  // namespace

TEST_CASE("run config: defaults") {
  const TempDir folder;
  write_text(folder / "text.txt", sample_text());
  write_text(folder / "d.yaml", R"(data: {type: text, path: text.txt}
model: {type: gpt, context_length: 8, d_model: 12, num_heads: 3, num_layers: 1}
train: {steps: 12, batch_size: 4}
)");
  const LoadedRun run = load_run(read_run_tree(folder / "d.yaml"), folder.path());
  const ConfigNode& all = run.resolved;
  CHECK(all.get("seed").text() == "123");
  CHECK(all.get("precision").text() == precision_name);
  struct Default {
    const char *section, *key, *value;
  };
  const std::vector<Default> defaults = {
      {"random", "generators", "separate"}, {"random", "dropout_stream", "mcg31"},
      {"data", "tokenizer", "char"},        {"data", "train_fraction", "0.9"},
      {"data", "sampling", "random"},       {"data", "stride", "context_length"},
      {"data", "shuffle", "true"},          {"data", "context_length", "8"},
      {"model", "qkv_bias", "false"},       {"model", "bias", "true"},
      {"model", "tie_embeddings", "false"}, {"model", "norm", "layer_norm"},
      {"model", "activation", "gelu_tanh"}, {"model", "position", "learned"},
      {"model", "init", "torch"},           {"model", "hidden_multiplier", "4"},
      {"optimizer", "type", "adamw"},       {"optimizer", "lr", "0.001"},
      {"optimizer", "eps", "1e-08"},        {"optimizer", "weight_decay", "0.01"},
      {"optimizer", "decay", "matrices"},   {"schedule", "type", "constant"},
      {"train", "accumulate", "1"},         {"train", "clip_grad_norm", "none"},
      {"train", "log_every", "10"},         {"eval", "every", "none"},
      {"eval", "batches", "all"},           {"checkpoint", "every", "none"},
      {"checkpoint", "keep", "3"},          {"checkpoint", "optimizer_state", "true"},
      {"sample", "every", "none"},          {"train", "overfit_batch", "false"}};
  for (const Default& each : defaults) {
    CHECK_MESSAGE(value(all, each.section, each.key) == each.value, each.section, ".", each.key);
  }
  CHECK(all.get("optimizer").get("betas").at(1).text() == "0.999");
  CHECK(base_lr(run) == 0.001);
  CHECK(run.config.context_length() == 8);
}

TEST_CASE("run config: what is resolved reads back as it is, from any folder") {
  const TempDir folder, elsewhere;
  for (const std::vector<std::string>& sets :
       {std::vector<std::string>{},
        {"sample={every: 3, prompt: \"E\\n\", top_p: 0.5}"},
        {"model.attention={type: causal_attention}", "data.sampling=windows"},
        {"data={type: synthetic, vocab_size: 9}"},
        {"train.overfit_batch=true", "model.dropout=0.3", "eval={every: 4, batches: 3}"}}) {
    const LoadedRun run = load_small(folder, sets);
    const std::string yaml = to_yaml(run.resolved);
    const LoadedRun again = load_run(parse_config(yaml, "config.yaml"), elsewhere.path());
    CHECK(again.resolved == run.resolved);
    CHECK(to_yaml(again.resolved) == yaml);
  }
}

TEST_CASE("run config: a run knows its data by absolute path and fingerprint") {
  const TempDir folder;
  const LoadedRun run = load_small(folder);
  const ConfigNode& data = run.resolved.get("data");
  CHECK(data.get("path").text() == (folder / "text.txt").string());
  CHECK(data.get("fingerprint").text() == fingerprint_file(folder / "text.txt").text());
  CHECK(data.get("fingerprint").text().starts_with("xxh64:"));
  const LoadedRun synthetic = load_small(folder, {"data={type: synthetic, vocab_size: 9}"});
  CHECK(!synthetic.resolved.get("data").has("fingerprint"));

  write_text(folder / "text.txt", sample_text() + "x");
  try {
    load_run(run.resolved, folder.path());
    FAIL("another text was taken");
  } catch (const IoError& error) {
    CHECK(std::string(error.what()).find(": changed: expected fingerprint xxh64:") !=
          std::string::npos);
  }
}

TEST_CASE("run config: sizes come from the data, and one that is given is checked") {
  const TempDir folder;
  const std::set<char> letters = [] {
    const std::string text = sample_text();
    return std::set<char>(text.begin(), text.end());
  }();
  const std::string size = std::to_string(letters.size());
  CHECK(value(load_small(folder).resolved, "model", "vocab_size") == size);
  CHECK(message_of(folder, {"model.vocab_size=" + size}) == "no error");
  CHECK(message_of(folder, {"model.vocab_size=99"}) ==
        "--set model.vocab_size=99:1:18: model.vocab_size: expected " + size +
            ", as the data has it, or nothing; got 99");
  const LoadedRun synthetic = load_small(folder, {"data={type: synthetic, vocab_size: 7}"});
  CHECK(*synthetic.config.model.find<int64_t>("vocab_size") == 7);
  CHECK(value(load_small(folder, {"data.context_length=4"}).resolved, "model", "context_length") ==
        "8");
  CHECK(message_of(folder, {"data.context_length=9"}) ==
        "--set data.context_length=9:1:21: data.context_length: must be at most "
        "model.context_length 8, got 9");
}

TEST_CASE("run config: every mistake at once, none that follows from another") {
  const TempDir folder;
  CHECK(message_of(folder, {"data.path=no.txt", "model.d_modle=3", "optimizer.lr=x"}) ==
        "--set model.d_modle=3:1:7: model.d_modle: unknown key, did you mean d_model?\n"
        "--set optimizer.lr=x:1:14: optimizer.lr: expected a number of at least 0, got x\n"
        "--set data.path=no.txt:1:11: data.path: no.txt: cannot open: No such file or directory");
  write_file_atomically(folder / "diary.txt", std::string("a diary"));
  CHECK(message_of(folder, {"data.path=dairy.txt"}) ==
        "--set data.path=dairy.txt:1:11: data.path: dairy.txt: cannot open: No such file or "
        "directory; did you mean diary.txt, which is in that folder?");
  CHECK(message_of(folder, {"data.path=~/diary.txt"})
            .ends_with("; ~ is not expanded, write the whole path"));
  CHECK(message_of(folder, {"data.path=no.txt"}) ==
        "--set data.path=no.txt:1:11: data.path: no.txt: cannot open: No such file or directory");
  // Nothing is said about a size that the data would have decided, the vocab_size here.
  CHECK(message_of(folder, {"data={type: synthetic, vocab_size: 0}"}) ==
        "--set data={type: synthetic, vocab_size: 0}:1:36: data.vocab_size: expected a whole "
        "number from 1 to 16777216, got 0");
  CHECK(message_of(folder, {"data.path=no.txt", "model={type: gptt}"}) ==
        "--set model={type: gptt}:1:14: model.type: unknown layer gptt, did you mean gpt?\n"
        "--set data.path=no.txt:1:11: data.path: no.txt: cannot open: No such file or directory");
  CHECK(message_of(folder, {"model={type: gpt, d_model: 8, num_heads: 2, num_layers: 1}"}) ==
        "--set model={type: gpt, d_model: 8, num_heads: 2, num_layers: 1}:1:7: "
        "model.context_length: missing, expected a whole number of at least 1 (largest number of "
        "tokens)");
}

TEST_CASE("run config: samples and evaluations that could not be made are refused") {
  const TempDir folder;
  CHECK(message_of(folder, {"sample={every: 5, prompt: \"Zoo\"}"})
            .find("sample.prompt: the character Z (character 1 of the text) is not in the "
                  "vocabulary") != std::string::npos);
  CHECK(message_of(folder, {"sample.prompt=Zoo"}) != "no error");
  CHECK(message_of(folder, {"sample={every: 5, prompt: \"\"}"})
            .ends_with("sample.prompt: expected at least one token, got none; another one: --set "
                       "sample.prompt=TEXT"));
  CHECK(message_of(folder, {"sample.every=5"}) == "no error");
  CHECK(message_of(folder, {"data.train_fraction=1"}) == "no error");
  CHECK(message_of(folder, {"data.train_fraction=1", "eval.every=5"}) ==
        "--set eval.every=5:1:12: eval.every: the data has no validation part to evaluate on; make "
        "data.train_fraction smaller, or leave eval.every out");
  CHECK(message_of(folder, {"checkpoint.best=true", "eval.every=3"}) == "no error");
  CHECK(
      message_of(folder, {"checkpoint.best=true"}) ==
      "--set checkpoint.best=true:1:17: checkpoint.best: needs a validation loss on the way; give "
      "eval.every too");
  CHECK(message_of(folder, {"eval.patience=2"}) ==
        "--set eval.patience=2:1:15: eval.patience: needs a validation loss on the way; give "
        "eval.every too");
  CHECK(message_of(folder, {"data.sampling=windows", "train.batch_size=300"})
            .find("data.sampling: windows: expected at least one batch of 300 windows, got ") !=
        std::string::npos);
}

TEST_CASE("run config: what is required, and for what") {
  const TempDir folder;
  CHECK_THROWS_AS(
      load_run(parse_config("model: {type: linear, d_in: 2, d_out: 3}", "m.yaml"), folder.path()),
      ConfigError);
  const LoadedRun model =
      load_run(parse_config("model: {type: linear, d_in: 2, d_out: 3}", "m.yaml"), folder.path(),
               Purpose::model);
  CHECK(model.task == nullptr);
  CHECK(model.config.model.type() == "linear");
}

TEST_CASE("run config: settings reach the streams and switches") {
  const TempDir folder;
  apply_settings(load_small(folder, {"fused=false", "random.generators=single"}).config);
  CHECK(!fused());
  CHECK(&streams().init() == &streams().data());
  apply_settings(load_small(folder, {"seed=9"}).config);
  CHECK(fused());
  CHECK(&streams().init() != &streams().data());
  Generator nine(9);
  CHECK(streams().data().random32() == nine.random32());
}

TEST_CASE("run config: a number with a plus is the same number everywhere") {
  const TempDir folder;
  const LoadedRun plus = load_small(
      folder, {"model.context_length=+16", "seed=+7", "optimizer.lr=+2e-2", "train.batch_size=+3"});
  const LoadedRun plain = load_small(
      folder, {"model.context_length=16", "seed=7", "optimizer.lr=2e-2", "train.batch_size=3"});
  CHECK(plus.resolved == plain.resolved);
  CHECK(value(plus.resolved, "data", "context_length") == "16");
  CHECK(plus.config.context_length() == 16);
  CHECK(base_lr(plus) == 0.02);
  Generator data(1), same(1);
  const Ids ids = plus.task->data().next(2, data).input.ids;
  CHECK(ids.shape() == Shape{2, 16});

  const auto drawn = [&](const std::string& seed) {
    const std::vector<std::string> sets = {"data={type: synthetic, vocab_size: 9}", "seed=" + seed};
    const Ids first =
        load_small(folder, sets).task->data().examples(Split::validation, {0}).input.ids;
    return std::vector<int32_t>(first.data(), first.data() + first.size());
  };
  CHECK(drawn("+5") == drawn("5"));
  CHECK(drawn("+5") != drawn("123"));
  CHECK(message_of(folder, {"data.sampling=windows", "train.batch_size=+5000"})
            .find("expected at least one batch of 5000 windows, got 246") != std::string::npos);
  CHECK(value(load_small(folder, {"model.vocab_size=+21"}).resolved, "model", "vocab_size") ==
        "21");
  CHECK(message_of(folder, {"model.attention={type: multi_head_attention_wrapper, num_heads: +2}",
                            "model.num_heads=2"}) == "no error");
}

TEST_CASE("run config: settings that contradict each other or do nothing") {
  const TempDir folder;
  struct Case {
    std::vector<std::string> sets;
    std::string message;
  };
  for (const Case& c : std::vector<Case>{
           {{"schedule={type: cosine, min_lr: 0.1}"},
            "schedule.min_lr: must be at most the optimizer's learning rate 0.01, got 0.1"},
           {{"schedule={type: linear, min_lr: 1e-4}", "optimizer.lr=5e-5"},
            "schedule.min_lr: must be at most the optimizer's learning rate 5e-05, got 0.0001"},
           {{"eval.batches=3"},
            "eval.batches: 3 without eval.every is never used; give eval.every too, or leave "
            "eval.batches out"},
           {{"data.stride=3"},
            "data.stride: 3 has no effect with sampling random; write sampling: windows, or leave "
            "stride out"},
           {{"data.shuffle=false"},
            "data.shuffle: false has no effect with sampling random; write sampling: windows, or "
            "leave shuffle out"},
           {{"optimizer={type: sgd, dampening: 0.5}"},
            "optimizer.dampening: 0.5 has no effect with momentum 0; give a momentum, or leave "
            "dampening out"}}) {
    CAPTURE(c.message);
    const std::string message = message_of(folder, c.sets);
    CHECK_MESSAGE(message.ends_with(": " + c.message), message);
  }
  CHECK(message_of(folder, {"schedule={type: cosine, min_lr: 1e-2}"}) == "no error");
  CHECK(message_of(folder, {"data.shuffle=true"}) == "no error");
}

TEST_CASE("run config: sizes near the largest number are refused, whatever is added to them") {
  const TempDir folder;
  const std::string most = "9223372036854775807";
  CHECK(message_of(folder, {"model.context_length=" + most, "eval.every=4"})
            .find("data.path: too short for context_length " + most + ": expected at least " +
                  most + " tokens in the training part, got 1972 of 2466") != std::string::npos);
  CHECK(message_of(folder, {"eval={every: 4, batches: " + most + "}"}) == "no error");
}

TEST_CASE("run config: the field of an optimizer's rate may have any name") {
  const TempDir folder;
  optimizer_registry().add<RateOptimizer>("rate_optimizer");
  const auto with = [](const std::string& optimizer, const std::string& min_lr) {
    return std::vector<std::string>{"optimizer=" + optimizer,
                                    "schedule={type: cosine, min_lr: " + min_lr + "}"};
  };
  CHECK(message_of(folder, with("{type: rate_optimizer, step_size: 0.25}", "0.25")) == "no error");
  CHECK(message_of(folder, with("{type: rate_optimizer, step_size: 0.25}", "0.3"))
            .ends_with(": schedule.min_lr: must be at most the optimizer's learning rate 0.25, "
                       "got 0.3"));
  CHECK(message_of(folder, with("{type: rate_optimizer}", "0.6"))
            .ends_with("learning rate 0.5, got 0.6"));
  // A mistake in the optimizer is the only one that is named.
  const std::string mistake =
      message_of(folder, with("{type: rate_optimizer, step_size: -1}", "0.6"));
  CHECK_MESSAGE(mistake.ends_with(": optimizer.step_size: expected a number of at least 0, got -1"),
                mistake);
  CHECK(base_lr(load_small(folder, {"optimizer={type: rate_optimizer, step_size: 0.125}"})) ==
        0.125);
}
