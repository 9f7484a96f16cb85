#include "layers/feed_forward.h"

#include "tests/support/layer_cases.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("feed_forward: two linears around an activation, token by token") {
  FeedForward layer({1, 2, "relu", true});
  set_parameter(layer, "layers.0.weight", Array::from({2, 1}, {1, -1}));
  set_parameter(layer, "layers.0.bias", Array::zeros({2}));
  set_parameter(layer, "layers.2.weight", Array::from({1, 2}, {1, 1}));
  set_parameter(layer, "layers.2.bias", Array::from({1}, {10}));
  check_values(layer(Tensor(Array::from({3, 1}, {-2, 0, 3}))), {3, 1}, {12, 10, 13});  // |x| + 10
}
