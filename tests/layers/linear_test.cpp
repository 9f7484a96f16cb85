#include "layers/linear.h"

#include "tests/support/layer_cases.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("linear layer: y = x W^T + b") {
  Linear layer({2, 3});
  set_parameter(layer, "weight", Array::from({3, 2}, {1, 2, 3, 4, 5, 6}));
  set_parameter(layer, "bias", Array::from({3}, {10, 20, 30}));
  check_values(layer(Tensor(Array::from({1, 2}, {1, -1}))), {1, 3}, {9, 19, 29});
  check_values(layer(Tensor(Array::from({2}, {1, 0}))), {3}, {11, 23, 35});
}

TEST_CASE("linear layer: names, shapes and numbers are torch.nn.Linear's") {
  CHECK(parameter_lines(*layer_of("{type: linear, d_in: 4, d_out: 3}")) ==
        "weight (3, 4)\nbias (3,)\n");
  CHECK(parameter_lines(*layer_of("{type: linear, d_in: 4, d_out: 3, bias: false}")) ==
        "weight (3, 4)\n");
  CHECK(check_torch_init("{type: linear, d_in: 7, d_out: 5}", 123) == 40);
  CHECK(check_torch_init("{type: linear, d_in: 129, d_out: 33, bias: false}", 9) == 129 * 33);
  CHECK(check_golden("linear") + check_golden("linear_no_bias") == 2 * (4 + 3));
}

TEST_CASE("linear layer: refuses") {
  const auto layer = layer_of("{type: linear, d_in: 4, d_out: 3}");
  CHECK(error_of([&] {
          (*layer)(Tensor(values({2, 5})));
        }) == "linear: expected x (..., in) and weight (out, in), got (2, 5) and (3, 4)");
  CHECK(config_error_of("{type: linear, d_in: 0, d_out: 3}") ==
        "model.yaml:1:29: model.d_in: expected a whole number of at least 1, got 0");
  CHECK(error_of<ConfigError>([] {
          Linear({0, 3});
        }) == "d_in: expected a whole number of at least 1, got 0");
}
