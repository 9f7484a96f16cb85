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
std::string mistakes_of(const TempDir& folder, const std::vector<std::string>& sets) {
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

TEST_CASE("run config: sizes come from the data") {
  const TempDir folder;
  const std::set<char> letters = [] {
    const std::string text = sample_text();
    return std::set<char>(text.begin(), text.end());
  }();
  const std::string size = std::to_string(letters.size());
  CHECK(value(load_small(folder).resolved, "model", "vocab_size") == size);
  const LoadedRun synthetic = load_small(folder, {"data={type: synthetic, vocab_size: 7}"});
  CHECK(*synthetic.config.model.find<int64_t>("vocab_size") == 7);
  CHECK(value(load_small(folder, {"data.context_length=4"}).resolved, "model", "context_length") ==
        "8");
}

// Other mistakes are in tests/messages/configs.
TEST_CASE("run config: a file of --set that is missing is not in the current folder") {
  const TempDir folder;
  CHECK(mistakes_of(folder, {"data.path=no.txt"}) ==
        "--set data.path=no.txt:1:11: data.path: no.txt: cannot open: No such file or directory");
  CHECK(mistakes_of(folder, {"data.path=~/diary.txt"})
            .ends_with("; ~ is not expanded, write the whole path"));
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
  CHECK(value(load_small(folder, {"model.vocab_size=+21"}).resolved, "model", "vocab_size") ==
        "21");
}

TEST_CASE("run config: the field of an optimizer's rate may have any name") {
  const TempDir folder;
  optimizer_registry().add<RateOptimizer>("rate_optimizer");
  const auto with = [](const std::string& optimizer, const std::string& min_lr) {
    return std::vector<std::string>{"optimizer=" + optimizer,
                                    "schedule={type: cosine, min_lr: " + min_lr + "}"};
  };
  CHECK(mistakes_of(folder, with("{type: rate_optimizer, step_size: 0.25}", "0.25")) == "no error");
  CHECK(mistakes_of(folder, with("{type: rate_optimizer, step_size: 0.25}", "0.3"))
            .ends_with(": schedule.min_lr: must be at most the optimizer's learning rate 0.25, "
                       "got 0.3"));
  CHECK(mistakes_of(folder, with("{type: rate_optimizer}", "0.6"))
            .ends_with("learning rate 0.5, got 0.6"));
  CHECK(base_lr(load_small(folder, {"optimizer={type: rate_optimizer, step_size: 0.125}"})) ==
        0.125);
}
