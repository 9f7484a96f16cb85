#include "layers/wings/recurrent/linear_attention.h"

#include "tests/support/layer_cases.h"
#include "train/wings/examine/testing.h"

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
  CHECK(parameter_lines(*layer_of("{type: linear_attention, d_in: 4, d_out: 6, num_heads: 3, "
                                  "out_proj: false}")) ==
        "W_query.weight (6, 4)\nW_key.weight (6, 4)\nW_value.weight (6, 4)\n");
}

TEST_CASE("linear_attention: values and gradients are PyTorch's") {
  CHECK(check_golden("linear_attention") == 2 * 7);
  CHECK(check_golden("linear_attention_mask_keys") == 2 * 10);
  CHECK(check_golden("linear_attention_mask_full") == 2 * 6);
  CHECK(check_golden("linear_attention_no_out_proj") == 2 * 5);
  CHECK(check_golden("gpt_linear_attention") > 2 * 10);
}

TEST_CASE("linear_attention: all that a layer must satisfy") {
  for (const char* options : {"", ", qkv_bias: true, out_bias: false, context_length: 50"}) {
    check_layer(text("{type: linear_attention, d_in: 5, d_out: 6, num_heads: 2", options, "}"),
                {{2, 6, 5}, {6, 5}});
  }
  check_layer(
      "{type: gpt, vocab_size: 7, context_length: 8, d_model: 8, num_heads: 2, num_layers: 2, "
      "attention: {type: linear_attention}}");
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

TEST_CASE("linear_attention: wrong inputs and fields are refused") {
  const auto layer =
      layer_of("{type: linear_attention, d_in: 4, d_out: 6, num_heads: 2, context_length: 3}");
  CHECK(error_of([&] {
          (*layer)(Tensor(values({2, 5})));
        }) == "linear_attention: expected x (B, T, d_in 4) or (T, d_in), got (2, 5)");
  CHECK(error_of([&] {
          (*layer)(Tensor(values({5, 4})));
        }) == "linear_attention: expected at most context_length 3 tokens, got 5 in (5, 4)");
  CHECK(error_of([&] {
          (*layer)({Tensor(values({2, 3, 4})), Mask::zeros({3, 2})});
        }) == "linearized_attention: expected a mask (B, T) = (2, 3) or (B, 1, T, T), got (3, 2)");
  CHECK(config_error_of("{type: linear_attention, d_in: 4, d_out: 6, num_heads: 4}")
            .find("num_heads: must divide d_out: d_out is 6, num_heads is 4") != std::string::npos);
}
