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
  CHECK_FALSE(layer->signature().causal);
}

TEST_CASE("self_attention_v2: parameters are those of three Linear layers") {
  const auto layer = layer_of("{type: self_attention_v2, d_in: 3, d_out: 2, qkv_bias: true}");
  CHECK(parameter_lines(*layer) ==
        "W_query.weight (2, 3)\nW_query.bias (2,)\nW_key.weight (2, 3)\nW_key.bias (2,)\n"
        "W_value.weight (2, 3)\nW_value.bias (2,)\n");
  CHECK(check_torch_init("{type: self_attention_v2, d_in: 12, d_out: 5, qkv_bias: true}", 4) ==
        195);
}

TEST_CASE("self_attention_v2: PyTorch's values") {
  CHECK(check_golden("self_attention_v2") + check_golden("self_attention_v2_bias_mask") +
            check_golden("self_attention_v2_sum") + check_golden("self_attention_v2_none") ==
        2 * (5 + 8 + 5 + 5));
}

TEST_CASE("self_attention_v2: refuses") {
  const auto layer = layer_of("{type: self_attention_v2, d_in: 3, d_out: 2}");
  CHECK(error_of([&] {
          (*layer)(Tensor(values({2, 6, 4})));
        }) == "self_attention_v2: expected x (B, T, d_in 3) or (T, d_in), got (2, 6, 4)");
  CHECK(error_of([&] {
          (*layer)({Tensor(values({2, 6, 3})), Mask::full({6, 6}, 1)});
        }) == "scaled_dot_product_attention: expected a mask (B, S) = (2, 6), got (6, 6)");
}
