// The attention maps of an encoder-decoder, whose decoder looks back at the source.
#include "tools/extras/report/tests/pages/attention_map_cases.h"
#include "train/extras/sequence_models/tests/translation/configs.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("attention maps: an encoder-decoder reads, writes and looks back") {
  const Looked run = untrained(std::string(translating) + "}");
  const Exhibit shown = exhibit_of(run);
  CHECK(shown.prompt == "7 0 3");
  const std::vector<AttentionMap> maps = maps_of(run, shown.shown);
  REQUIRE(maps.size() == 6);
  const int64_t written = shown.shown.ids.size();
  int crossing = 0;
  for (const AttentionMap& map : maps) {
    check_map(map);
    CAPTURE(map.path);
    const bool encoder = map.path.starts_with("encoder_blocks");
    CHECK(map.cross == map.path.ends_with("cross_att"));
    if (encoder || map.cross) {
      CHECK(spaced(map.keys) == "7 0 3 <end>");
    }
    if (encoder) {
      CHECK(map.queries == map.keys);
    } else {
      CHECK(static_cast<int64_t>(map.queries.size()) == written);
      CHECK((map.queries[0] == "<start>") == !map.cross);  // rows of a cross map are written
    }
    crossing += map.cross ? 1 : 0;
  }
  CHECK(crossing == 2);
}

TEST_CASE("attention maps: one vector for the whole source has one column") {
  const Looked run = untrained(std::string(translating) + ", context: mean}");
  int pooled = 0;
  for (const AttentionMap& map : maps_of(run, exhibit_of(run).shown)) {
    check_map(map);
    if (map.cross) {
      CHECK(spaced(map.keys) == "(all)");
      ++pooled;
    }
  }
  CHECK(pooled == 2);
}
