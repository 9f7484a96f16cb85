#include "layers/self_attention_v2.h"

#include "tests/support/layer_cases.h"
#include "tests/support/seed_numbers.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("self_attention_v2: the numbers of the documents from seed 789") {
  const auto layer = layer_of("{type: self_attention_v2, d_in: 3, d_out: 2}", 789);
  AttentionRecorder recorder;
  CHECK(check_seed_numbers("self_attention_v2", (*layer)(Tensor(seed_inputs())).value()) == 12);
  REQUIRE(recorder.recorded.size() == 1);
  const Array weights = recorder.recorded[0].weights.reshaped({6, 6});
  CHECK(check_seed_numbers("causal.v2_weights", weights) == 36);
}
