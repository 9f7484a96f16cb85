// Layers of the core that have no other test of all their options.
#include "train/wings/examine/testing.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("global_attention: all that a layer must satisfy") {
  for (const char* score : {"additive", "dot"}) {
    check_layer(text("{type: global_attention, d_in: 4, score: ", score, "}"));
  }
}
