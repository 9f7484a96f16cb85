#include "layers/simple_attention.h"

#include "tests/support/layer_cases.h"
#include "tests/support/seed_numbers.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("simple_attention: the numbers of the documents") {
  const auto layer = layer_of("{type: simple_attention}");
  AttentionRecorder recorder;
  CHECK(check_seed_numbers("simple.contexts", (*layer)(Tensor(seed_inputs())).value()) == 18);
  REQUIRE(recorder.recorded.size() == 1);
  CHECK(check_seed_numbers("simple.weights", recorder.recorded[0].weights.reshaped({6, 6})) == 36);
}

TEST_CASE("simple_attention: weights by division by the sum, and none at all") {
  // Scores of the tokens 1 and 3: 1 3 and 3 9.
  const Tensor x(Array::from({2, 1}, {1, 3}));
  const auto y_of = [&](const std::string& weights) {
    return (*layer_of("{type: simple_attention, attention_weights: " + weights + "}"))(x);
  };
  check_values(y_of("sum"), {2, 1}, {2.5, 2.5});
  check_values(y_of("none"), {2, 1}, {10, 30});
}
