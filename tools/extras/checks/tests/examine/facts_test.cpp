// Layers that facts.txt wants to be examined: options that each layer's variants do not have.
#include "tests/support/layer_facts.h"
#include "tests/support/source_tree.h"
#include "tools/extras/checks/train/testing.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("examine: the layers of facts.txt satisfy all that a layer must") {
  int64_t examined = 0, facts = 0;
  for (const LayerFact& fact : layer_facts()) {
    ++facts;
    if (fact.word != "examined") continue;
    CAPTURE(fact.place);
    check_layer(fact.layer, shapes_in(fact.says));
    ++examined;
  }
  CHECK(facts > 150);
  CHECK(examined >= (layout::has_extra("recurrent") ? 33 : 0));  // those of this extra alone
}
