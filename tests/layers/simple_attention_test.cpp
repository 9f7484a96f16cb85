#include "layers/simple_attention.h"

#include "tests/support/layer_cases.h"
#include "tests/support/seed_numbers.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("simple_attention: the numbers of the documents") {
  const auto layer = layer_of("{type: simple_attention}");
  CHECK(layer->parameter_count() == 0);
  CHECK_FALSE(layer->signature().causal);
  AttentionRecorder recorder;
  CHECK(check_seed_numbers("simple.contexts", (*layer)(Tensor(seed_inputs())).value()) == 18);
  REQUIRE(recorder.recorded.size() == 1);
  CHECK(check_seed_numbers("simple.weights", recorder.recorded[0].weights.reshaped({6, 6})) == 36);
}

TEST_CASE("simple_attention: PyTorch's values") {
  CHECK(check_golden("simple_attention") + check_golden("simple_attention_mask") +
            check_golden("simple_attention_sum") + check_golden("simple_attention_none") ==
        2 * (2 + 2 + 2 + 2));
}

TEST_CASE("simple_attention: weights by division by the sum, and none at all") {
  // Scores of the tokens 1 and 3: 1 3 and 3 9.
  const Tensor x(Array::from({2, 1}, {1, 3}));
  const auto y_of = [&](const std::string& weights) {
    return (*layer_of("{type: simple_attention, attention_weights: " + weights + "}"))(x);
  };
  check_values(y_of("sum"), {2, 1}, {2.5, 2.5});
  check_values(y_of("none"), {2, 1}, {10, 30});
  CHECK(config_error_of("{type: simple_attention, attention_weights: softmx}") ==
        "model.yaml:1:52: model.attention_weights: expected softmax, sum or none, got softmx; did "
        "you mean softmax?");
}

TEST_CASE("simple_attention: refuses") {
  const auto layer = layer_of("{type: simple_attention}");
  CHECK(error_of([&] { (*layer)(Tensor(values({5}))); }) ==
        "simple_attention: expected x (B, T, d_in 5) or (T, d_in), got (5,)");
  CHECK(error_of([&] {
          (*layer)({Tensor(values({2, 5, 3})), Mask::full({2, 4}, 1)});
        }) ==
        "attention: expected a mask (B, S) = (2, 5) or (B, 1, T, S) = (2, 1, 5, 5), got (2, 4)");
}
