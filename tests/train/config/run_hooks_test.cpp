#include "train/run_hooks.h"

#include <doctest/doctest.h>

#include "autograd/random/streams.h"
#include "tests/support/near.h"
#include "tests/support/source_tree.h"
#include "tests/support/training_run.h"

using namespace heed;
using namespace heed::testing;

namespace {

struct KeyOfExtra {
  const char *extra, *folder, *key, *value;
};
const std::vector<KeyOfExtra> keys{
    {"fine_tuning", "tools/extras/fine_tuning/train", "train.weights", "w"},
    {"fine_tuning", "tools/extras/fine_tuning/train", "train.weights_ignore", "[a]"},
    {"fine_tuning", "tools/extras/fine_tuning/train", "train.weights_fingerprint", "x"},
    {"fine_tuning", "tools/extras/fine_tuning/train", "train.freeze", "[a, b]"},
    {"fine_tuning", "tools/extras/fine_tuning/train", "train.lora", "{rank: 2}"},
    {"fine_tuning", "tools/extras/fine_tuning/train", "checkpoint.full", "true"},
    {"processes", "train/extras/processes", "train.shards", "2"},
    {"inspect", "tools/extras/inspect/train", "train.show", "[out_head]"},
    {"report", "tools/extras/report/train", "eval.probe", "heads"},
    {"plugins", "tools/extras/plugins/train", "plugins", "[libmine.so]"}};

}  // namespace

TEST_CASE("keys: a build without the extra of a key says so, unless the key asks for nothing") {
  const TempDir folder;
  int64_t compared = 0;
  for (const KeyOfExtra& each : keys) {
    if (layout::has_extra(each.extra)) continue;
    CAPTURE(each.key);
    const std::string lines =
        error_of([&] { load_small(folder, {text(each.key, "=", each.value)}); });
    const bool deleted = !std::filesystem::exists(layout::root() / each.folder);
    CHECK(contains(lines, text(each.key, ": unknown key")));
    CHECK(contains(lines, text("; it belongs to the extra ", each.extra, ", which")) == !deleted);
    ++compared;
  }
  if (compared == 0) MESSAGE("skipped: this build has them all");
  if (std::filesystem::exists(layout::root() / "tools/extras/fine_tuning/train")) {
    load_small(folder, {"train.weights=\"\"", "train.freeze=[]", "checkpoint.full=false"});
  }
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

TEST_CASE("run hooks: without keys of theirs they leave a model as it was drawn") {
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
