// The attention maps of a translator whose decoder is a recurrent network.
#include "tools/extras/report/tests/pages/attention_map_cases.h"
#include "train/extras/sequence_models/tests/translation/configs.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("attention maps: a recurrent decoder has one when it attends") {
  for (const std::string attention : {"none", "additive", "dot"}) {
    CAPTURE(attention);
    std::string config = translating;
    config.erase(config.find("model:"));
    const Looked run = untrained(
        config + "model: {type: rnn_encoder_decoder, d_model: 8, attention: " + attention + "}");
    const Exhibit shown = exhibit_of(run);
    const std::vector<AttentionMap> maps = maps_of(run, shown.shown);
    REQUIRE(maps.size() == (attention == "none" ? 0 : 1));
    for (const AttentionMap& map : maps) {
      check_map(map);
      CHECK(map.path == "cross_att");
      CHECK(map.cross);
      CHECK(spaced(map.keys) == "7 0 3 <end>");
      CHECK(static_cast<int64_t>(map.queries.size()) == shown.shown.ids.size());
    }
  }
}
