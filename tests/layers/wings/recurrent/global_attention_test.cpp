#include "layers/wings/recurrent/global_attention.h"

#include "tests/support/layer_cases.h"
#include "train/wings/examine/testing.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("global_attention: its parameters") {
  CHECK(parameter_lines(*layer_of("{type: global_attention, d_in: 4}")) ==
        "W_query.weight (4, 4)\nW_key.weight (4, 4)\nv.weight (1, 4)\n");
  CHECK(parameter_lines(*layer_of("{type: global_attention, d_in: 4, score: dot}")).empty());
  CHECK(check_torch_init("{type: global_attention, d_in: 4}", 5) == 36);
}

TEST_CASE("global_attention: values and gradients are PyTorch's") {
  CHECK(check_golden("global_attention") == 2 * 6);
  CHECK(check_golden("global_attention_unbatched") == 2 * 6);
  CHECK(check_golden("global_attention_dot") == 2 * 3);
  CHECK(check_golden("global_attention_wide") == 2 * 6);
}

TEST_CASE("global_attention: all that a layer must satisfy") {
  for (const char* options : {"", ", score: dot", ", d_context: 7"}) {
    check_layer(text("{type: global_attention, d_in: 4", options, "}"));
  }
}

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

TEST_CASE("global_attention: a context that does not fit is refused") {
  const auto layer = layer_of("{type: global_attention, d_in: 4}");
  Input in(Tensor(values({2, 5, 4})));
  CHECK(error_of([&] { (*layer)(in); }) ==
        "global_attention: expected a context (B, S, d_in 4) with x (2, 5, 4), got none");
  in.context = values({2, 5, 3});
  CHECK(error_of([&] { (*layer)(in); }) ==
        "global_attention: expected a context (B, S, d_in 4) with x (2, 5, 4), got (2, 5, 3)");
  CHECK(config_error_of("{type: global_attention, d_in: 4, d_context: 5, score: dot}") ==
        "model.yaml:1:53: model.d_context: must be d_in for a dot product: d_in is 4, d_context is "
        "5");
}
