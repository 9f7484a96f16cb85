#include "my_layer.h"

#include <heed/layers/causal_attention.h>
#include <heed/testing.h>

using namespace heed;

// Fields, names, gradients (in float64), checkpoints, evaluation mode, causality, threads, NaN.
// Each failure says how to fix it.
TEST_CASE("my_layer: everything that is expected of a layer") {
  testing::check_layer("{type: my_layer, d_in: 8, d_out: 6, context_length: 9}",
                       {{2, 9, 8}, {9, 8}, {1, 1, 8}});
  testing::check_layer("{type: my_layer, d_in: 8, d_out: 8, context_length: 9, dropout: 0.2}");
}

// The two tests below are of the sample: delete them when forward() or the fields are your own.
TEST_CASE("my_layer, the sample: an open gate is half of causal_attention") {
  manual_seed(123);
  const auto layer = testing::make_layer("{type: my_layer, d_in: 4, d_out: 3, context_length: 5}");
  manual_seed(123);
  CausalAttention attention({.d_in = 4, .d_out = 3, .context_length = 5});
  const Tensor x = testing::random_numbers({2, 5, 4}), half(0.5);  // half: sigmoid(0)
  testing::check_near((*layer)(x), half * attention(x), 1e-4);
}

TEST_CASE("my_layer, the sample: more tokens than context_length are refused") {
  const auto layer = testing::make_layer("{type: my_layer, d_in: 4, d_out: 3, context_length: 5}");
  CHECK_THROWS_AS((*layer)(Tensor(Array::zeros({1, 6, 4}))), ShapeError);
}
