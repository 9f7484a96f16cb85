// Configs that an earlier version of heed wrote. Words of other tools, some of which are names of
// earlier versions too, are in tests/messages/sets/keys.txt.
#include <doctest/doctest.h>

#include "tests/support/training_run.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("configs of earlier versions: old names, and fields that another one turns off") {
  const auto now = [](const std::string& old) {
    ConfigNode layer = parse_config(old, "");
    bring_up_to_date(layer);
    return to_yaml(layer);
  };
  CHECK(now("{type: gpt, hidden_multiplier: 4, hidden_size: 5}") ==
        "type: gpt\nhidden_multiplier: 4\nff_width: 5\n");
  CHECK(now("{type: gpt, hidden_size: 5, ff_width: 6}") ==
        "type: gpt\nhidden_size: 5\nff_width: 6\n");
  CHECK(now("{type: no_layer, hidden_size: 5}") == "type: no_layer\nhidden_size: 5\n");
  CHECK(now("{type: gpt, feed_forward: {type: gated_feed_forward, hidden_size: 5}}") ==
        "type: gpt\nfeed_forward:\n  type: gated_feed_forward\n  ff_width: 5\n");
  CHECK(now("{type: gpt, bias: false, attention: {type: packed_attention, out_proj: false, "
            "out_bias: true}}") ==
        "type: gpt\nbias: false\nattention:\n  type: packed_attention\n  out_proj: false\n");
  CHECK(now("{train: {steps: 1, shard_optimizer: false}}") == "train:\n  steps: 1\n");
  CHECK(now("{type: sequential, layers: [{type: multi_head_attention, out_proj: false, out_bias: "
            "true}, {type: multi_head_attention, out_proj: true, out_bias: true}]}") ==
        now("{type: sequential, layers: [{type: multi_head_attention, out_proj: false}, {type: "
            "multi_head_attention, out_proj: true, out_bias: true}]}"));
}

TEST_CASE("configs of earlier versions: that of a run or a checkpoint is one, a user's is not") {
  const TempDir folder;
  const std::string old =
      "precision: " + std::string(precision_name) +
      "\nmodel: {type: gpt, hidden_multiplier: 4, hidden_size: 5}\nsample: {every: none}\n";
  write_text(folder / "config.yaml", old);
  write_text(folder / "other.yaml", old);
  const auto has_new_name = [&](const char* name) {
    return read_run_tree(folder / name).root.get("model").has("ff_width");
  };
  CHECK_FALSE(has_new_name("config.yaml"));
  std::filesystem::create_directory(folder / "checkpoints");
  CHECK(has_new_name("config.yaml"));
  CHECK_FALSE(has_new_name("other.yaml"));
  std::filesystem::remove(folder / "checkpoints");
  write_text(folder / "manifest.json", "{}");
  CHECK(has_new_name("config.yaml"));  // a checkpoint, also where it was copied
  CHECK_FALSE(has_new_name("other.yaml"));
  write_text(folder / "config.yaml", "model: {type: gpt, hidden_multiplier: 4, hidden_size: 5}\n");
  CHECK_FALSE(has_new_name("config.yaml"));
}
