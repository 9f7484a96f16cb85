// The attention maps of every kind of model and task, and the names on their axes.
#include "tools/extras/report/pages/attention_maps.h"

#include <doctest/doctest.h>

#include "tools/extras/report/tests/pages/attention_map_cases.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("attention maps: a language model, in the order of its layers") {
  const TempDir folder;
  Looked run{load_small(folder, {"model.num_layers=2", "sample.prompt=Every", "model.dropout=0.5"}),
             nullptr};
  apply_settings(run.loaded.config);
  run.model = make_layer(run.loaded.config.model);
  const StreamsState before = streams().state();
  const Exhibit shown = exhibit_of(run);
  CHECK(shown.prompt == "Every");
  CHECK(shown.answer.empty());  // shows the prompt only, without generating
  const std::vector<AttentionMap> maps = maps_of(run, shown.shown);
  REQUIRE(maps.size() == 2);
  CHECK(maps[0].path == "trf_blocks.0.att");
  CHECK(maps[1].path == "trf_blocks.1.att");
  for (const AttentionMap& map : maps) {
    CHECK(!map.cross);
    CHECK(spaced(map.queries) == "E v e r y");
    CHECK(map.keys == map.queries);
    CHECK(map.weights.dim(0) == 3);
    CHECK(check_map(map) == 15);
    CHECK(map.weights.data()[1] == 0);  // token 0 does not attend to later ones
  }
  CHECK(run.model->training());
  CHECK(streams().state() == before);
}

TEST_CASE("attention maps: without a prompt the first held-out example, without its padding") {
  const Looked run = untrained(
      "data: {type: sort, length: 9, min_length: 4, symbols: 9}\n"
      "model: {type: gpt, d_model: 9, num_heads: 1, num_layers: 1, attention: {type: "
      "multi_head_attention_wrapper, num_heads: 3}}");
  const Exhibit shown = exhibit_of(run);
  CHECK(shown.prompt.size() >= 7);
  CHECK(!shown.answer.empty());
  const std::vector<AttentionMap> maps = maps_of(run, shown.shown);
  REQUIRE(maps.size() == 3);
  CHECK(maps[2].path == "trf_blocks.0.att.heads.2");
  check_map(maps[2]);
}

TEST_CASE("attention maps: a text without a useful prompt is shown by its first line") {
  const TempDir folder;
  Looked run{load_small(folder, {"model.context_length=16"}), nullptr};
  run.model = make_layer(run.loaded.config.model);
  const Exhibit shown = exhibit(*run.model, *run.loaded.task, run.loaded.config, 7);
  CHECK(shown.shown.ids.size() == std::ssize(shown.prompt));
  CHECK(shown.prompt.size() == 6);  // of 7 without the end of a line before
  CHECK(contains(read_text(folder / "text.txt"), "\n" + shown.prompt));
}
