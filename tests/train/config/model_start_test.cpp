#include "train/config/model_start.h"

#include <doctest/doctest.h>

#include "autograd/random/streams.h"
#include "tests/support/near.h"
#include "tests/support/source_tree.h"
#include "tests/support/training_run.h"
#include "train/plan.h"

using namespace heed;
using namespace heed::testing;

namespace {

const std::vector<std::string> keys{"weights: w", "weights_ignore: [a]", "weights_fingerprint: x",
                                    "freeze: [a, b]", "lora: {rank: 2}"};

}  // namespace

TEST_CASE("model start: without an extra, each key that needs one is refused at its place") {
  const ModelStart plain;
  RunConfig config;
  for (const std::string& key : keys) {
    const ConfigNode tree = parse_config("train: {steps: 1, " + key + "}", "c.yaml");
    ConfigErrors errors;
    plain.check(config, tree.get("train"), errors);
    REQUIRE(errors.count() == 1);
    const std::string name = key.substr(0, key.find(':'));
    CHECK(std::string(errors.exception().what())
              .starts_with(text("c.yaml:1:", 19 + name.size() + 2, ": train.", name,
                                ": this build trains all of a model as it is drawn")));
  }
  ConfigErrors errors;
  plain.check(config, parse_config("{steps: 1, freeze: [], weights: \"\"}", "c.yaml"), errors);
  config.purpose = Purpose::model;
  plain.check(config, parse_config("{weights: w, freeze: [a]}", "c.yaml"), errors);
  CHECK(errors.empty());
}

TEST_CASE("model start: a build without the extra names it") {
  if (layout::has_extra("fine_tuning")) return;
  const bool deleted = !std::filesystem::exists(layout::root() / "tools/extras/fine_tuning/train");
  const TempDir folder;
  for (const std::string& key : keys) {
    const std::string set =
        "train." + key.substr(0, key.find(':')) + "=" + key.substr(key.find(':') + 2);
    const std::string lines = error_of([&] { load_small(folder, {set}); });
    CAPTURE(lines);
    CHECK(contains(lines, "this build trains all of a model as it is drawn"));
    CHECK(contains(lines, "it belongs to the extra fine_tuning") == !deleted);
  }
}

TEST_CASE("train.show: a build without the extra that prints parameters refuses it") {
  const TempDir folder;
  const LoadedRun run = load_small(folder, {"train.show=[out_head]"});
  const std::string lines = error_of([&] { make_plan(run); });
  CAPTURE(lines);
  CHECK(contains(lines, "train.show: this build prints no parameters") !=
        layout::has_extra("inspect"));
  const bool deleted = !std::filesystem::exists(layout::root() / "tools/extras/inspect/train");
  CHECK(contains(lines, "it belongs to the extra inspect") ==
        (!layout::has_extra("inspect") && !deleted));
}

TEST_CASE("eval.probe: a build without the extra that writes reports refuses it") {
  const TempDir folder;
  const ProgramResult result =
      run_heed({"validate", write_config(folder), "--set", "eval={every: 4, probe: heads}"});
  CHECK(result.exit_code == (layout::has_extra("report") ? 0 : 2));
  CHECK(contains(result.err, "eval.probe: unknown listener \"report\"") !=
        layout::has_extra("report"));
}

TEST_CASE("heed train --json: a build without the extra that prints events refuses it") {
  if (layout::has_extra("report")) return;
  const TempDir folder;
  const std::string out = (folder / "run").string();
  const ProgramResult result = run_heed({"train", write_config(folder), "--json", "--out", out});
  CHECK(result.exit_code == 2);
  CHECK(contains(result.out, "heed train: --json: this build has none"));
  CHECK(!std::filesystem::exists(out));
}

TEST_CASE("model start: it leaves a model as it was drawn") {
  const TempDir folder;
  const LoadedRun run = load_small(folder);
  manual_seed(5);
  const auto model = make_model(run);
  manual_seed(5);
  const auto drawn = make_layer(run.config.model);
  const auto all = model->parameters(), expected = drawn->parameters();
  REQUIRE(all.size() == expected.size());
  for (size_t k = 0; k < all.size(); ++k) {
    CHECK(all[k].tensor.requires_grad());
    const auto a = all[k].tensor.value().span(), b = expected[k].tensor.value().span();
    CHECK(std::equal(a.begin(), a.end(), b.begin(), b.end()));
  }
}
