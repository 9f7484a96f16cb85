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

TEST_CASE("linear_attention: memory is linear in the tokens") {
  const auto layer = layer_of("{type: linear_attention, d_in: 8, d_out: 8, num_heads: 1}");
  const auto bytes = [&](int64_t tokens) {
    const Tensor x = Tensor::parameter(values({1, tokens, 8}));
    pool::reset_peak();
    const int64_t before = pool::stats().live_bytes;
    (*layer)(x).backward(values({1, tokens, 8}));
    return pool::stats().peak_bytes - before;
  };
  bytes(4096);  // gradients of the parameters exist from here
  CHECK(static_cast<double>(bytes(4096)) < 4.5 * static_cast<double>(bytes(1024)));
}
