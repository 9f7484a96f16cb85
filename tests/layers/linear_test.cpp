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

TEST_CASE("linear layer: a config made in C++ is checked as well") {
  CHECK(message_of<ConfigError>([] {
          Linear({0, 3});
        }) == "d_in: expected a whole number of at least 1, got 0");
}
