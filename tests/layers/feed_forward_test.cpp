#include "layers/feed_forward.h"

#include "tests/support/layer_cases.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("feed_forward: parameters are those of the book's nn.Sequential") {
  CHECK(parameter_lines(*layer_of("{type: feed_forward, d_model: 3}")) ==
        "layers.0.weight (12, 3)\nlayers.0.bias (12,)\nlayers.2.weight (3, 12)\n"
        "layers.2.bias (3,)\n");
  CHECK(parameter_lines(*layer_of("{type: feed_forward, d_model: 3, hidden_multiplier: 2, bias: "
                                  "false}")) == "layers.0.weight (6, 3)\nlayers.2.weight (3, 6)\n");
  CHECK(check_torch_init("{type: feed_forward, d_model: 5}", 11) == 2 * 100 + 25);
}

TEST_CASE("feed_forward: two linears around an activation, token by token") {
  FeedForward layer({1, 2, "relu", true});
  set_parameter(layer, "layers.0.weight", Array::from({2, 1}, {1, -1}));
  set_parameter(layer, "layers.0.bias", Array::zeros({2}));
  set_parameter(layer, "layers.2.weight", Array::from({1, 2}, {1, 1}));
  set_parameter(layer, "layers.2.bias", Array::from({1}, {10}));
  check_values(layer(Tensor(Array::from({3, 1}, {-2, 0, 3}))), {3, 1}, {12, 10, 13});  // |x| + 10
}

TEST_CASE("feed_forward: PyTorch's values") {
  CHECK(check_golden("feed_forward") + check_golden("feed_forward_options") == 2 * (6 + 4));
}

TEST_CASE("feed_forward: refuses") {
  const auto layer = layer_of("{type: feed_forward, d_model: 3}");
  CHECK(error_of([&] {
          (*layer)(Tensor(values({2, 4})));
        }) == "linear: expected x (..., in) and weight (out, in), got (2, 4) and (12, 3)");
  CHECK(config_error_of("{type: feed_forward, d_model: 3, activation: tanh}") ==
        "model.yaml:1:53: model.activation: expected gelu_tanh, gelu, relu, relu2, silu or swiglu, "
        "got tanh");
}
