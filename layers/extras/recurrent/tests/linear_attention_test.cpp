#include "layers/extras/recurrent/linear_attention.h"

#include "tests/support/layer_cases.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("linear_attention: names, shapes and first numbers are multi-head attention's") {
  const std::string fields = "d_in: 12, d_out: 8, num_heads: 2, qkv_bias: true";
  const auto linear = layer_of(text("{type: linear_attention, ", fields, "}"));
  const auto soft = layer_of(text("{type: multi_head_attention, ", fields, ", context_length: 4}"));
  CHECK(parameter_lines(*linear) == parameter_lines(*soft));
  for (const NamedParameter& parameter : linear->parameters()) {
    check_same_bits(parameter.tensor.value(), parameter_of(*soft, parameter.name));
  }
}

TEST_CASE("linear_attention: the order of earlier tokens makes no difference") {
  const auto layer = layer_of("{type: linear_attention, d_in: 3, d_out: 4, num_heads: 2}");
  const Array x = values({1, 3, 3});
  Array swapped = x.clone();
  std::swap_ranges(swapped.mutable_data(), swapped.mutable_data() + 3, swapped.mutable_data() + 3);
  check_near(rows_between((*layer)(Tensor(x)).value().reshaped({3, 4}), 2, 3),
             rows_between((*layer)(Tensor(swapped)).value().reshaped({3, 4}), 2, 3));
}
