// Warnings about odd settings in a plan.
#include "train/wings/examine/advice.h"

#include <doctest/doctest.h>

#include "layers/embedding.h"
#include "tests/support/near.h"
#include "tests/support/training_run.h"
#include "train/checkpoint/state_dict.h"
#include "train/plan.h"

using namespace heed;
using namespace heed::testing;

namespace {

// Logits (B, T, 21) by one of its two layers.
class HalfUsed : public Module {
 public:
  Tensor forward(const Input& in) override { return used_(in); }

 private:
  Child<Embedding> used_{this, "used", Embedding::Config{21, 21}};
  Child<Embedding> idle_{this, "idle", Embedding::Config{2, 3}};
};

}  // namespace

TEST_CASE("advice: warns of a model that sees its targets, and --strict refuses it") {
  const TempDir folder;
  const Plan right = make_plan(load_small(folder));
  CHECK(right.warnings.empty());
  CHECK_NOTHROW(require_no_warnings(right));
  const LoadedRun run = load_small(folder, {"model.attention.causal=false"});
  const Plan plan = make_plan(run);
  const std::string warning =
      "the model sees the tokens that it has to predict: its loss will be far too good, its text "
      "nonsense; a language model needs causal attention";
  CHECK(plan.warnings == std::vector<std::string>{warning});
  CHECK(describe(plan, run).back() == "warning    " + warning);
  CHECK(error_of([&] { require_no_warnings(plan); }) == "--strict: " + warning);
  // One block of each kind is looked at; the last of them counts too.
  for (const std::string last : {"true", "false"}) {
    const std::vector<std::string> blocks{"model.num_layers=5",
                                          "model.attention=[{}, {}, {causal: " + last + "}]"};
    CHECK(make_plan(load_small(folder, blocks)).warnings.empty() == (last == "true"));
  }
}

TEST_CASE("advice: warns of heads that an attention does not have") {
  const TempDir folder;
  CHECK(make_plan(load_small(folder, {"model.attention={type: causal_attention}"})).warnings ==
        std::vector<std::string>{
            "model.num_heads is 3, but causal_attention takes no num_heads: write 1"});
  CHECK(make_plan(
            load_small(folder, {"model.attention={type: causal_attention}", "model.num_heads=1"}))
            .warnings.empty());
  CHECK(make_plan(load_small(folder, {"model.attention={type: multi_head_attention_wrapper}"}))
            .warnings.empty());
  const std::vector<std::string> list{"model.num_layers=2",
                                      "model.attention=[{type: causal_attention}, {}]"};
  CHECK(make_plan(load_small(folder, list)).warnings.empty());
}

TEST_CASE("advice: warns of learned positions that the data never gets to") {
  const TempDir folder;
  const Plan plan = make_plan(load_small(folder, {"data.context_length=5"}));
  CHECK(plan.warnings ==
        std::vector<std::string>{"data.context_length is 5, model.context_length 8: the positions "
                                 "from 5 on are never trained, but text that is generated uses "
                                 "them"});
  for (const char* position : {"sinusoidal", "rope"}) {
    CHECK(
        make_plan(load_small(folder, {"data.context_length=5", text("model.position=", position)}))
            .warnings.empty());
  }
}

TEST_CASE("advice: a learning rate of 0 and options of no sample") {
  const TempDir folder;
  const auto warnings = [&](const std::vector<std::string>& sets) {
    return make_plan(load_small(folder, sets)).warnings;
  };
  using Lines = std::vector<std::string>;
  CHECK(warnings({"optimizer.lr=0"}) ==
        Lines{"the optimizer's learning rate is 0: the weights stay as they are drawn"});
  LoadedRun started = load_small(folder, {"optimizer.lr=0"});
  const std::filesystem::path weights = folder / "model.safetensors";
  save_parameters(weights, *make_layer(started.config.model));
  CHECK(warnings({"optimizer.lr=0", "train.weights=" + weights.string()}) ==
        Lines{"the optimizer's learning rate is 0: the weights stay as they are in train.weights"});
  CHECK(warnings({"sample.tokens=50"}) ==
        Lines{"sample.tokens is 50, but no sample is written: sample.every is none"});
  CHECK(warnings({"sample.temperature=1"}).size() == 1);
  CHECK(warnings({"sample.top_k=3"}).size() == 1);
  CHECK(warnings({"sample.top_p=0.5"}).size() == 1);
  CHECK(warnings({"sample={tokens: 50, top_k: 3, every: 4}"}).empty());
  CHECK(warnings({"sample={temperature: 0, top_k: 3, every: 4}"}) ==
        Lines{"sample.top_k has no effect with sample.temperature 0, which takes the likeliest "
              "token"});
  CHECK(warnings({"sample.prompt=E"}).empty());  // heed generate takes it
}

TEST_CASE("advice: in the order of the plan, the model's before that of the settings") {
  const TempDir folder;
  const LoadedRun run = load_small(
      folder,
      {"optimizer={type: adam, decay: all, lr: 0}", "model.attention.causal=false",
       "schedule={type: constant, warmup_steps: 50}", "sample.tokens=50", "data.context_length=5"});
  const std::vector<std::string> warnings = make_plan(run).warnings;
  const std::vector<std::string> begins{
      "optimizer.decay is all", "the model sees the tokens", "the optimizer's learning rate is 0",
      "sample.tokens is 50",    "data.context_length is 5",  "schedule.warmup_steps is 50"};
  REQUIRE(warnings.size() == begins.size());
  for (size_t i = 0; i < begins.size(); ++i) CHECK(warnings[i].starts_with(begins[i]));
}

TEST_CASE("advice: parameters without a gradient, of which none is left") {
  const TempDir folder;
  const LoadedRun run = load_small(folder);
  const RunAdviser adviser({});
  HalfUsed model;
  CHECK(adviser.about_model(run, model) ==
        std::vector<std::string>{
            "1 of the parameters get no gradient and stay as drawn: idle.weight"});
  for (const NamedParameter& each : model.parameters()) CHECK(!each.tensor.grad());
  CHECK(adviser.about_model(run, *make_layer(run.config.model)).empty());
}
