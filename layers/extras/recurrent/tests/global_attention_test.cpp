#include "layers/extras/recurrent/global_attention.h"

#include "tests/support/layer_cases.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("global_attention: scores are dot products that are not scaled") {
  const auto layer = layer_of("{type: global_attention, d_in: 2, score: dot}");
  Input in(Tensor(Array::from({1, 2}, {2, 0})));
  in.context = Array::from({2, 2}, {1, 5, 0, 7});  // scores 2 and 0
  AttentionRecorder recorder;
  const real first = 1 / (1 + std::exp(real(-2)));
  check_values((*layer)(in), {1, 2}, {first, 5 * first + 7 * (1 - first)});
  REQUIRE(recorder.recorded.size() == 1);
  check_near(recorder.recorded[0].weights, Array::from({1, 1, 1, 2}, {first, 1 - first}));
}
